//! An id of a host, a run, a suite or an implementation, by the rule of `data/schema`.

/// The longest one: an id is part of file names, which have at most 255 bytes.
const LONGEST: usize = 200;

/// What a message expects.
pub const EXPECTED: &str = "expected at most 200 lower-case letters (a to z), digits, '.', '_' and '-', with a letter or \
     digit first";

pub fn is_id(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(letter)
        && text.chars().all(|c| letter(c) || "._-".contains(c))
        && text.len() <= LONGEST
}

/// The longest version, provider or label of a build.
const LONGEST_LABEL: usize = 100;

/// What a message expects of one.
pub const EXPECTED_LABEL: &str = "expected at most 100 letters (a to z), digits, spaces and \
                                  ',.+_()@:/~-', with a letter or digit first";

/// Whether a version, a provider or the label of a build may stand on a page.
pub fn is_label(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(letter)
        && text
            .chars()
            .all(|c| letter(c) || " ,.+_()@:/~-".contains(c))
        && text.len() <= LONGEST_LABEL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_what_the_schema_of_runs_accepts() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../data/schema/run.schema.json")).unwrap();
        let of_versions = &schema["$defs"]["Implementation"]["properties"]["version"];
        let schema = jsonschema::validator_for(of_versions).unwrap();
        let (longest, longer) = ("a".repeat(LONGEST_LABEL), "a".repeat(LONGEST_LABEL + 1));
        let mut accepted = 0;
        for text in [
            "3.6.1",
            "0.23 (a/b) ~1,+_@:-x",
            &longest,
            &longer,
            "",
            " 1",
            "-1",
            "1\n",
            "1\u{1b}",
            "č",
            "<b>",
            "=1",
        ] {
            assert_eq!(is_label(text), schema.is_valid(&text.into()), "{text}");
            accepted += usize::from(is_label(text));
        }
        assert_eq!(accepted, 3);
    }

    #[test]
    fn an_id_is_what_the_schema_of_runs_accepts() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../data/schema/run.schema.json")).unwrap();
        let of_suites = &schema["$defs"]["SuiteReference"]["properties"]["name"];
        let schema = jsonschema::validator_for(of_suites).unwrap();
        let (longest, longer) = ("a".repeat(LONGEST), "a".repeat(LONGEST + 1));
        let mut accepted = 0;
        for text in [
            "2026-11-21-quick_2.x",
            &longest,
            "0",
            &longer,
            "",
            "Quick",
            "-quick",
            ".quick",
            "quick/..",
            "qu ick",
            "quick\n",
            "..",
            "kvíz",
            "č",
        ] {
            assert_eq!(is_id(text), schema.is_valid(&text.into()), "{text}");
            accepted += usize::from(is_id(text));
        }
        assert_eq!(accepted, 3);
    }
}
