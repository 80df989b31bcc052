"""What flows cost to compile, against the same by hand and against floxide."""
