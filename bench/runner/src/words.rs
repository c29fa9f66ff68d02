//! Words whose form depends on a number.

use std::fmt::Display;

/// `1 round`, `2 rounds`.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_singular_only_after_one() {
        let all = [0_u32, 1, 2].map(|it| counted(it, "round"));
        assert_eq!(all, ["0 rounds", "1 round", "2 rounds"]);
    }
}
