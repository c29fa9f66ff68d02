//! The root below which `/proc`, `/sys`, `/etc` and `/run` are read and written: `/` on a real
//! host, a fake tree in tests.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file system root that records which existing files could not be read.
pub struct Root {
    path: PathBuf,
    unreadable: RefCell<BTreeSet<String>>,
}

impl Root {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            unreadable: RefCell::default(),
        }
    }

    /// The host that runs this program.
    pub fn host() -> Self {
        Self::new("/")
    }

    pub fn join(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    pub fn exists(&self, path: &str) -> bool {
        self.join(path).exists()
    }

    /// Content of a file without surrounding white space; `None` if the file does not exist. An
    /// existing file that cannot be read is also `None`, and [`Self::unreadable`] lists it.
    pub fn read(&self, path: &str) -> Option<String> {
        match fs::read(self.join(path)) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) => {
                self.note(path, &error);
                None
            }
        }
    }

    /// Like [`Self::read`], for binary files.
    pub fn read_bytes(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.join(path))
            .map_err(|error| self.note(path, &error))
            .ok()
    }

    /// Like [`Self::read`], for files that contain one number.
    pub fn read_number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.read(path)?.parse().ok()
    }

    /// Names in a folder in natural order (`cpu2` before `cpu10`); empty if the folder does not
    /// exist.
    pub fn list(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.join(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_by_key(|name| {
            let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            let stem = name[..name.len() - digits.len()].to_owned();
            (stem, digits.parse::<u64>().unwrap_or(0), name.clone())
        });
        names
    }

    /// Paths of the entries in a folder named `stem` and a number, such as `cpu0`, `cpu1`.
    pub fn numbered(&self, folder: &str, stem: &str) -> Vec<String> {
        self.list(folder)
            .into_iter()
            .filter(|name| {
                name.strip_prefix(stem).is_some_and(|rest| {
                    !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
                })
            })
            .map(|name| format!("{folder}/{name}"))
            .collect()
    }

    /// The contents of a file that each processor has.
    pub fn of_processors(&self, file: &str) -> Vec<String> {
        let processors = self.numbered("sys/devices/system/cpu", "cpu").into_iter();
        processors
            .filter_map(|cpu| self.read(&format!("{cpu}/{file}")))
            .collect()
    }

    /// The frequencies in a file of each processor, MHz.
    pub fn frequencies(&self, file: &str) -> Vec<f64> {
        let kilohertz = self.of_processors(&format!("cpufreq/{file}")).into_iter();
        kilohertz
            .filter_map(|khz| khz.parse().ok())
            .map(|khz: f64| khz / 1000.0)
            .collect()
    }

    /// Files with the name and the temperature of each sensor of `hwmon` chips and thermal zones.
    pub fn sensors(&self) -> Vec<(String, String)> {
        let mut sensors = Vec::new();
        for chip in self.numbered("sys/class/hwmon", "hwmon") {
            let mut files = self.list(&chip);
            files.retain(|file| file.starts_with("temp") && file.ends_with("_input"));
            let files = files.into_iter();
            sensors.extend(files.map(|file| (format!("{chip}/name"), format!("{chip}/{file}"))));
        }
        let zones = self.numbered("sys/class/thermal", "thermal_zone");
        let zones = zones.into_iter();
        sensors.extend(zones.map(|zone| (format!("{zone}/type"), format!("{zone}/temp"))));
        sensors
    }

    /// Writes a kernel file in place and in one call, as such files require.
    pub fn write(&self, path: &str, value: &str) -> io::Result<()> {
        fs::write(self.join(path), value)
    }

    /// The existing files that could not be read, as `path: reason`.
    pub fn unreadable(&self) -> Vec<String> {
        self.unreadable.borrow().iter().cloned().collect()
    }

    fn note(&self, path: &str, error: &io::Error) {
        // A process in /proc may end between listing and reading it: ESRCH, or no such file.
        let gone = error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error());
        let absent =
            [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind());
        if !gone && !absent {
            self.unreadable
                .borrow_mut()
                .insert(format!("/{path}: {error}"));
        }
    }
}

impl AsRef<Path> for Root {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// The processors in a list of the kernel, such as `0-3,8,10-11`.
pub fn processors(list: &str) -> Vec<u32> {
    list.split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
        })
        .flatten()
        .collect()
}
