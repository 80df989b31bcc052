//! A fork with 40 branches.

use flow_runtime::prelude::*;

use crate::flows::square;

flow! {
    pub(crate) Wide(number: u64) -> (s1: u64, s2: u64, s3: u64, s4: u64, s5: u64, s6: u64, s7: u64, s8: u64, s9: u64, s10: u64, s11: u64, s12: u64, s13: u64, s14: u64, s15: u64, s16: u64, s17: u64, s18: u64, s19: u64, s20: u64, s21: u64, s22: u64, s23: u64, s24: u64, s25: u64, s26: u64, s27: u64, s28: u64, s29: u64, s30: u64, s31: u64, s32: u64, s33: u64, s34: u64, s35: u64, s36: u64, s37: u64, s38: u64, s39: u64, s40: u64) {
        node s1: square { square -> s1 };
        node s2: square { square -> s2 };
        node s3: square { square -> s3 };
        node s4: square { square -> s4 };
        node s5: square { square -> s5 };
        node s6: square { square -> s6 };
        node s7: square { square -> s7 };
        node s8: square { square -> s8 };
        node s9: square { square -> s9 };
        node s10: square { square -> s10 };
        node s11: square { square -> s11 };
        node s12: square { square -> s12 };
        node s13: square { square -> s13 };
        node s14: square { square -> s14 };
        node s15: square { square -> s15 };
        node s16: square { square -> s16 };
        node s17: square { square -> s17 };
        node s18: square { square -> s18 };
        node s19: square { square -> s19 };
        node s20: square { square -> s20 };
        node s21: square { square -> s21 };
        node s22: square { square -> s22 };
        node s23: square { square -> s23 };
        node s24: square { square -> s24 };
        node s25: square { square -> s25 };
        node s26: square { square -> s26 };
        node s27: square { square -> s27 };
        node s28: square { square -> s28 };
        node s29: square { square -> s29 };
        node s30: square { square -> s30 };
        node s31: square { square -> s31 };
        node s32: square { square -> s32 };
        node s33: square { square -> s33 };
        node s34: square { square -> s34 };
        node s35: square { square -> s35 };
        node s36: square { square -> s36 };
        node s37: square { square -> s37 };
        node s38: square { square -> s38 };
        node s39: square { square -> s39 };
        node s40: square { square -> s40 };
        start >> [s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15, s16, s17, s18, s19, s20, s21, s22, s23, s24, s25, s26, s27, s28, s29, s30, s31, s32, s33, s34, s35, s36, s37, s38, s39, s40] >> end;
    }
}
