//! The random words that files are drawn from.

use resilver_kernel::{Purpose, Stream};
use resilver_population::Words;

const FILE_SIZE: Purpose = Purpose::named("filesize");

/// The words of files: draw i of one stream is file i's, and draw i of another its further one.
pub struct FileWords {
    first_file: u64,
    words: Stream,
    further: Stream,
}

impl FileWords {
    /// The words of the run of `seed`, of which the files from `first_file` on are asked for as if that were the first.
    pub fn new(seed: u64, first_file: u64) -> Self {
        FileWords { first_file, words: Stream::new(seed, 0, FILE_SIZE), further: Stream::new(seed, 1, FILE_SIZE) }
    }
}

impl Words for FileWords {
    fn fill(&self, first: u64, words: &mut [u64]) {
        self.words.fill(self.first_file + first, words);
    }

    fn further(&self, file: u64) -> u64 {
        let file = self.first_file + file;
        self.further.block(file / 4)[(file % 4) as usize]
    }
}
