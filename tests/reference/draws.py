"""Random draws and hashes of the reference: every number that is not in the study file.

A draw is a function of (seed, purpose, entity, number of the draw), by NumPy's Philox4x64-10; a
hash is a function of what is hashed. Neither has a state, so nothing here depends on order.
"""

import numpy as np

WORD = 2**64
HALF_WORD = 2**32


def draw_block(seed: int, purpose: str, entity: int, block: int) -> list[int]:
    """The four words of draws 4*block to 4*block + 3.

    Args:
        seed: The seed of the run.
        purpose: What the draws are for, up to eight letters; they are packed into one word.
        entity: Whose draws they are.
        block: The number of the block.
    """
    key = int.from_bytes(purpose.encode("ascii"), "big") << 64 | seed
    # NumPy counts on before it makes a block, so it is started one block early.
    counter = ((entity << 64 | block) - 1) % 2**256
    return [int(word) for word in np.random.Philox(key=key, counter=counter).random_raw(4)]


class Stream:
    """The draws of one entity for one purpose, one after another."""

    def __init__(self, seed: int, purpose: str, entity: int) -> None:
        self._of = (seed, purpose, entity)
        self._next = 0

    def seek(self, draw: int) -> None:
        """Go on from a draw, by its number."""
        self._next = draw

    def word(self) -> int:
        """The next 64 random bits."""
        block, lane = divmod(self._next, 4)
        self._next += 1
        return draw_block(*self._of, block)[lane]

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1, all exactly as likely.

        Of the 2^64 words, 2^64 mod `limit` are too many to be shared out evenly. They are those
        whose product with `limit` has its low word below that remainder (Lemire 2019).
        """
        while True:
            number, low_word = divmod(self.word() * limit, WORD)
            if low_word >= WORD % limit:
                return number


def share(word: int, limit: int) -> int:
    """A uniform word scaled to 0 to `limit` - 1."""
    return word * limit // WORD


def mix(word: int) -> int:
    """A 64-bit hash of a word: a step of splitmix64 (Steele, Lea and Flood 2014)."""
    word = (word + 0x9E3779B97F4A7C15) % WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


def upper_half(word: int) -> int:
    """The upper 32 bits of a word."""
    return word // HALF_WORD


def jenkins_of_two(first: int, second: int) -> int:
    """The 32-bit hash by which Ceph makes a CRUSH input of a group's number and its pool's.

    B. Jenkins' public-domain mix of three words ("Hash Functions for Hash Table Lookup"), run over
    the two words, the hash so far and two constants.
    """
    so_far = 1315423911 ^ first ^ second
    first, second, so_far = _jenkins_mix(first, second, so_far)
    _, first, so_far = _jenkins_mix(231232, first, so_far)
    return _jenkins_mix(second, 1232, so_far)[2]


def _jenkins_mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for right, left, right_again in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        a = (a - b - c) % HALF_WORD ^ c >> right
        b = ((b - c - a) ^ a << left) % HALF_WORD
        c = (c - a - b) % HALF_WORD ^ b >> right_again
    return a, b, c
