//! An id of a host, a run, a suite or an implementation, by the rule of `data/schema`.

/// The longest one: an id is part of file names, which have at most 255 bytes.
const LONGEST: usize = 200;

/// What a message expects.
pub const EXPECTED: &str = "expected at most 200 lower-case letters (a to z), digits, '.', '_' and '-', with a letter or \
     digit first";

pub fn is_id(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    is_name(text, letter, "._-", LONGEST)
}

/// Whether a letter comes first and only letters and `others` follow.
fn is_name(text: &str, letter: fn(char) -> bool, others: &str, longest: usize) -> bool {
    text.starts_with(letter)
        && text.chars().all(|c| letter(c) || others.contains(c))
        && text.len() <= longest
}

/// The longest version, provider or label of a build.
const LONGEST_LABEL: usize = 100;

/// What a message expects of one.
pub const EXPECTED_LABEL: &str = "expected at most 100 letters (a to z), digits, spaces and \
                                  ',.+_()@:/~-', with a letter or digit first";

/// Whether a version, a provider or the label of a build may stand on a page.
pub fn is_label(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric();
    is_name(text, letter, " ,.+_()@:/~-", LONGEST_LABEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a rule with that of a field in the schema of runs; three of the texts fit.
    fn agrees(accepts: fn(&str) -> bool, field: &str, texts: &[&str]) {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../data/schema/run.schema.json")).unwrap();
        let rule = schema.pointer(&format!("/$defs/{field}")).unwrap();
        let schema = jsonschema::validator_for(rule).unwrap();
        for text in texts {
            assert_eq!(accepts(text), schema.is_valid(&(*text).into()), "{text}");
        }
        assert_eq!(texts.iter().filter(|it| accepts(it)).count(), 3);
    }

    #[test]
    fn a_label_is_what_the_schema_of_runs_accepts() {
        let (longest, longer) = ("a".repeat(LONGEST_LABEL), "a".repeat(LONGEST_LABEL + 1));
        let texts = [
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
        ];
        agrees(is_label, "Implementation/properties/version", &texts);
    }

    #[test]
    fn an_id_is_what_the_schema_of_runs_accepts() {
        let (longest, longer) = ("a".repeat(LONGEST), "a".repeat(LONGEST + 1));
        let texts = [
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
        ];
        agrees(is_id, "SuiteReference/properties/name", &texts);
    }
}
