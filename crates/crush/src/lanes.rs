//! Which of the processor's instructions the inner loops use, and how one loop is compiled for each of them.

/// Which instructions the inner loops use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// One item at a time, as the definition reads: the reference for the others.
    Plain,
    /// Whatever vectors the build's baseline has.
    Portable,
    /// AVX2, if the processor has it.
    Avx2,
    /// AVX-512 (F, BW, DQ, VL), if the processor has it.
    Avx512,
}

impl Lanes {
    /// Those this processor can run, best first.
    #[must_use]
    pub fn available() -> Vec<Lanes> {
        let mut lanes = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx512 {
                lanes.push(Lanes::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                lanes.push(Lanes::Avx2);
            }
        }
        lanes.extend([Lanes::Portable, Lanes::Plain]);
        lanes
    }
}

/// Defines one function compiled for each instruction set, and the choice among the copies.
macro_rules! multiversion {
    ($visibility:vis $name:ident, $body:ident, ($($arg:ident : $type:ty),*), $result:ty) => {
        $visibility fn $name(lanes: $crate::Lanes, $($arg: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $type),*) -> $result {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512($($arg: $type),*) -> $result {
                    $body($($arg),*)
                }
                match lanes {
                    // SAFETY: `Scratch` accepts these lanes only where `Lanes::available` has found the features.
                    $crate::Lanes::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::Lanes::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::Lanes::Plain | $crate::Lanes::Portable => {}
                }
            }
            let _ = lanes;
            $body($($arg),*)
        }
    };
}

pub(crate) use multiversion;
