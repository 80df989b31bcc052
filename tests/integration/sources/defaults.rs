flow! {
    CutAgain(text: String, limit: usize = 3, mark: String = "…".to_owned()) -> (cut: String) {
        namespace "cut";

        start >> cut >> end;
    }
}
