//! SHA-256 (FIPS 180-4), to compare tables of answers with published digests.

/// The constants of the standard: the first 32 bits of the fractional parts of the roots of the first primes.
fn fraction_bits(root: f64) -> u32 {
    ((root - root.floor()) * 4_294_967_296.0) as u32
}

fn primes() -> impl Iterator<Item = u32> {
    (2u32..).filter(|&number| (2..number).take_while(|part| part * part <= number).all(|part| number % part != 0))
}

/// The SHA-256 digest of some bytes, in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut state: Vec<u32> = primes().take(8).map(|prime| fraction_bits(f64::from(prime).sqrt())).collect();
    let constants: Vec<u32> = primes().take(64).map(|prime| fraction_bits(f64::from(prime).cbrt())).collect();
    let mut message = bytes.to_vec();
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64) - 8, 0);
    message.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut words: Vec<u32> =
            block.chunks_exact(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
        for t in 16..64 {
            let (early, late) = (words[t - 15], words[t - 2]);
            let small0 = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
            let small1 = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
            words.push(words[t - 16].wrapping_add(small0).wrapping_add(words[t - 7]).wrapping_add(small1));
        }
        let mut v = state.clone();
        for t in 0..64 {
            let large1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let one = [large1, choice, constants[t], words[t]].iter().fold(v[7], |sum, &part| sum.wrapping_add(part));
            let large0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(one);
            v[0] = one.wrapping_add(large0).wrapping_add(majority);
        }
        for (total, part) in state.iter_mut().zip(&v) {
            *total = total.wrapping_add(*part);
        }
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}
