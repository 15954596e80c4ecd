//! Running `crushtool` in a folder of a test's own.

use std::path::PathBuf;
use std::process::Command;

/// A folder of one test's own, removed afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Makes the folder.
    pub fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, data: &[u8]) {
        std::fs::write(self.0.join(name), data).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether there is no `crushtool`, with a reason printed.
pub fn crushtool_is_missing() -> bool {
    let missing = Command::new("crushtool").arg("--help").output().is_err();
    if missing {
        println!("skipped: crushtool is not installed (Debian: ceph-base)");
    }
    missing
}

/// Runs `crushtool`: its standard output, or its standard error where it fails.
pub fn try_run(arguments: &[&str], folder: &Folder) -> Result<String, String> {
    let output = Command::new("crushtool").args(arguments).current_dir(&folder.0).output().unwrap();
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}
