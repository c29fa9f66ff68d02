//! Line numbers in TOML files, for messages: `bench/suites/quick.toml:9: …`.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use serde::de::DeserializeOwned;
use toml_edit::{Document, Item, Value};

/// A word that differs in more letters is not suggested.
const MOST_LETTERS: usize = 3;

/// A longer message is cut: it may contain a whole key.
const LONGEST: usize = 500;

/// Parts of a key that the parser accepts.
const MOST_PARTS: usize = 80;

/// A file and the positions of its parts.
pub struct Lines {
    name: String,
    text: String,
    /// Absent if the file cannot be parsed.
    document: Option<Document<String>>,
}

impl Lines {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
        let document = Document::parse(text.clone()).ok();
        Ok(Self {
            name,
            text,
            document,
        })
    }

    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Parses the content.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        parse(&self.name, &self.text)
    }

    /// `FILE:LINE` of the start of a list entry, or of one of its fields.
    pub fn at(&self, list: &str, index: usize, field: Option<&str>) -> String {
        let place = self.place(list, index, field);
        format!("{}:{}", self.name, self.line(place.unwrap_or_default()))
    }

    /// `FILE:LINE` of a top-level key; the first line if it is absent.
    pub fn at_key(&self, key: &str) -> String {
        let key = self.document.as_ref().and_then(|it| it.key(key));
        let place = key.and_then(|key| Some(key.span()?.start));
        format!("{}:{}", self.name, self.line(place.unwrap_or_default()))
    }

    fn place(&self, list: &str, index: usize, field: Option<&str>) -> Option<usize> {
        let start = |span: Option<std::ops::Range<usize>>| Some(span?.start);
        match self.document.as_ref()?.get(list)? {
            Item::ArrayOfTables(all) => {
                let table = all.get(index)?;
                let key = field.and_then(|field| table.key(field)?.span());
                start(key).or_else(|| start(table.span()))
            }
            Item::Value(Value::Array(all)) => start(all.get(index)?.span()),
            _ => None,
        }
    }

    fn line(&self, place: usize) -> usize {
        line(&self.text, place)
    }
}

/// What a text in TOML states. An error has the name and the line; every file that is read in TOML
/// is read here.
pub fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        // Only for a key of too many parts, the parser states no place.
        let is_deep = |line: &str| line.matches('.').count() >= MOST_PARTS;
        let line = match error.span() {
            Some(span) => line(text, span.start),
            None => text.lines().position(is_deep).map_or(1, |it| it + 1),
        };
        anyhow!("{name}:{line}: {}", readable(error.message()))
    })
}

/// The line of a place; the first one is 1.
fn line(text: &str, place: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// Puts a message of the TOML parser on one line, and suggests the word that was probably meant.
pub fn readable(message: &str) -> String {
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message: String = words.chars().take(LONGEST).collect();
    let invalid = ["invalid type: ", "invalid value: "];
    let wrong = invalid.iter().find_map(|it| message.strip_prefix(it));
    if let Some((found, expected)) = wrong.and_then(|it| it.split_once(", expected ")) {
        let expected = match expected {
            "u32" => "a whole number up to 4294967295",
            "u64" => "a whole number",
            "f64" => "a number",
            "a string" => "text in quotes",
            "a boolean" => "true or false",
            "a sequence" => "a list such as [\"a\", \"b\"]",
            other => other,
        };
        return format!("found {found}, expected {expected}");
    }
    // unknown field `name`, expected one of `first`, `second`
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match words.split_first() {
        Some((found, expected)) if message.starts_with("unknown ") => {
            let meant = suggestion(found, expected.iter().copied());
            message + &meant
        }
        _ => message,
    }
}

/// The end of a message: the expected word that is closest, if it is close enough.
pub fn suggestion<'a>(found: &str, expected: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, expected).map_or(String::new(), |near| format!(": did you mean `{near}`?"))
}

fn nearest<'a>(found: &str, expected: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let found = found.to_lowercase();
    let distance = |word: &str| strsim::damerau_levenshtein(&found, &word.to_lowercase());
    let all = expected.into_iter().map(|word| (distance(word), word));
    let (distance, word) = all.min_by_key(|(distance, _)| *distance)?;
    (distance <= MOST_LETTERS && distance * 2 < found.len()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Lines {
        Lines {
            name: "suite.toml".into(),
            text: text.into(),
            document: Document::parse(text.into()).ok(),
        }
    }

    #[test]
    fn every_key_has_its_line() {
        let lines =
            lines("a = [\n  \"x\",\n  { b = 1 },\n]\n[[s]]\nt = 1\n[[s]]\n# c\nu = [1,\n2]\n");
        assert_eq!(lines.at("a", 0, None), "suite.toml:2");
        assert_eq!(lines.at("a", 1, None), "suite.toml:3");
        assert_eq!(lines.at("s", 0, Some("t")), "suite.toml:6");
        assert_eq!(lines.at("s", 1, None), "suite.toml:7");
        assert_eq!(lines.at("s", 1, Some("u")), "suite.toml:9");
        assert_eq!(lines.at("s", 1, Some("absent")), "suite.toml:7");
        assert_eq!(lines.at_key("a"), "suite.toml:1");
    }

    #[test]
    fn only_similar_words_are_suggested() {
        let names = ["tls-openssl", "tls-boringssl"];
        assert_eq!(nearest("tls-opensl", names), Some("tls-openssl"));
        assert_eq!(nearest("tls-wolfssl-unheard-of", names), None);
        let message = "unknown field `round`, expected one of `rounds`, `name`";
        assert!(readable(message).ends_with("did you mean `rounds`?"));
    }
}
