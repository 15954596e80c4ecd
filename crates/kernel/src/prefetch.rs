//! A hint to the processor, which changes nothing but the time that things take.

/// Asks the processor to bring `value` into its cache while it goes on with other work.
///
/// Millions of pulls or packets exceed any cache, and each event needs one of them: where that waits in memory, fetching it
/// would take longer than the event.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no effect on memory, whatever the address, and this one is of a live value.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
