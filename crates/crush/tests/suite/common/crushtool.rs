//! Running `crushtool` in a folder of a test's own.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

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

/// Runs `crushtool`: its standard output, or its standard error where it fails, crashes or, having crashed, hangs.
pub fn try_run(arguments: &[&str], folder: &Folder) -> Result<String, String> {
    let file = |name: &str| std::fs::File::create(folder.0.join(name)).unwrap();
    let mut command = Command::new("crushtool");
    command.args(arguments).current_dir(&folder.0).stdin(Stdio::null());
    let mut child = command.stdout(file("crushtool.out")).stderr(file("crushtool.err")).spawn().unwrap();
    // Its crash handler allocates, and waits for ever where the crash was in the allocator.
    for _ in 0..1000 {
        if let Some(status) = child.try_wait().unwrap() {
            let name = if status.success() { "crushtool.out" } else { "crushtool.err" };
            let text = String::from_utf8_lossy(&folder.read(name)).into_owned();
            return if status.success() { Ok(text) } else { Err(text) };
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    Err("Aborted: crushtool hangs".to_owned())
}
