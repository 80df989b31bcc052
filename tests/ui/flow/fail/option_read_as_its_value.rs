use flow_runtime::prelude::*;

struct User(String);

#[node(writes = user)]
fn find_user(name: &str) -> Option<User> { Some(User(name.into())) }

#[node]
fn greet(user: &User) -> String { user.0.clone() }

flow! {
    Greeting(name: String) -> (greet: String) {
        start >> find_user >> greet >> end; //~
    }
}

fn main() {}
