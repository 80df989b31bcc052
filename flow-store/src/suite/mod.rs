//! The cases that every implementation of [`Store`] must pass.
//!
//! [`suite!`](crate::suite!) generates a test for each of them.

#[doc(hidden)]
pub mod append;
#[cfg(feature = "blobs")]
#[doc(hidden)]
pub mod blobs;
#[doc(hidden)]
pub mod cancelling;
#[doc(hidden)]
pub mod claim;
#[doc(hidden)]
pub mod clock;
#[doc(hidden)]
pub mod create;
#[doc(hidden)]
pub mod delete;
#[doc(hidden)]
pub mod due;
#[doc(hidden)]
pub mod end;
#[doc(hidden)]
pub mod fixtures;
#[doc(hidden)]
pub mod halts;
#[doc(hidden)]
pub mod hints;
#[doc(hidden)]
pub mod list;
#[doc(hidden)]
pub mod log;
#[doc(hidden)]
pub mod lost_answers;
#[doc(hidden)]
pub mod parts;
#[doc(hidden)]
pub mod questions;
#[doc(hidden)]
pub mod queue;
#[doc(hidden)]
pub mod records;
#[doc(hidden)]
pub mod reopen;
#[doc(hidden)]
pub mod signals;
#[doc(hidden)]
pub mod transactions;
#[doc(hidden)]
pub mod waiting;

use std::path::PathBuf;
use std::sync::Arc;

use crate::Store;

/// Generates a `#[test]` for each case that a [`Store`] must pass, in modules by topic.
///
/// Takes a function that gets a folder and returns a future of an empty store, or of an `Option` of
/// one: `None` skips the cases, for instance if a server is not installed. The folder is empty, and
/// is removed after the test.
///
/// ```
/// mod in_memory {
///     flow_store::suite!(|_folder| async { flow_store::MemoryStore::new() });
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! suite {
    ($fresh:expr) => {
        $crate::__suite! {
            [$fresh]
                create: {
                    stores_what_it_is_given,
                    follows_the_records_and_questions,
                    is_claimed_by_nobody,
                    is_claimed_at_once,
                    is_not_claimed_if_over,
                    leaves_the_claim_of_the_one_with_the_same_key,
                    returns_the_execution_with_the_same_key,
                    keeps_keys_of_flows_and_owners_apart,
                    stores_one_of_many_with_the_same_key,
                    stores_one_of_many_that_are_the_same,
                    refuses_an_id_that_is_taken,
                    refuses_records_with_a_gap,
                    refuses_questions_of_others,
                    keeps_long_names,
                    refuses_names_that_are_too_long,
                    keeps_the_first_structure,
                    finds_nothing_that_was_not_created,
                };
                parts: {
                    are_created_for_who_has_the_claim,
                    are_created_once,
                    are_refused_without_the_claim,
                    are_all_there_when_their_execution_ends,
                };
                claim: {
                    gives_the_next_fence,
                    is_refused_while_one_is_valid,
                    is_given_once_one_has_run_out,
                    is_refused_when_over,
                    succeeds_for_one_of_many,
                    changes_nothing_else,
                    is_prolonged,
                    is_prolonged_with_its_fence,
                    is_prolonged_after_it_ran_out,
                    is_not_shortened,
                    is_not_prolonged_for_another_holder,
                    is_broken_if_it_is_still_the_same,
                    is_prolonged_after_it_was_broken,
                    is_as_long_as_it_was_made_for,
                };
                append: {
                    writes_all_of_it,
                    leaves_what_it_does_not_name,
                    is_refused_with_an_old_fence,
                    is_refused_without_a_claim,
                    is_refused_when_over,
                    is_refused_for_an_unknown_execution,
                    goes_on_after_the_claim_ran_out,
                    is_refused_with_a_gap,
                    is_refused_with_a_record_twice,
                    writes_nothing_if_a_question_is_taken,
                    writes_nothing_if_a_question_is_unknown,
                    refuses_questions_of_others,
                    gives_the_claim_up,
                    closes_all_questions_when_over,
                    opens_and_closes_at_once,
                    removes_records_before_a_snapshot,
                    removes_nothing_before_anything_else,
                    knows_the_newest_snapshot,
                };
                end: {
                    ends_whoever_has_a_claim,
                    ends_without_a_claim,
                    closes_all_questions,
                    ends_what_is_paused_and_untouched_only,
                    writes_nothing_if_over,
                    is_refused_for_an_unknown_execution,
                    is_refused_for_a_status_that_goes_on,
                    succeeds_for_one_of_many,
                };
                reopen: {
                    continues_what_is_over,
                    lets_it_be_claimed_and_written_to,
                    puts_it_in_the_queue,
                    counts_towards_the_limit_of_its_key,
                    leaves_questions_closed_and_signals_kept,
                    forgets_the_halt_and_the_cancellation,
                    writes_nothing_if_not_over_or_elsewhere,
                    is_refused_for_an_unknown_execution,
                    is_refused_for_another_status,
                    succeeds_for_one_of_many,
                };
                cancelling: {
                    is_noted_until_the_end,
                    is_listed,
                    resumes_what_waits_for_it,
                    is_kept_from_the_beginning,
                    is_no_status_of_a_row,
                    ends_what_has_not_begun_only,
                };
                halts: {
                    keep_what_they_are_given,
                    change_options,
                    are_not_due,
                    are_listed,
                    are_made_by_the_holder_of_the_claim,
                };
                records: {
                    come_in_order_from_a_number_on,
                    keep_every_kind_and_part,
                    keep_any_text,
                    keep_a_mebibyte,
                };
                questions: {
                    are_those_not_closed_in_the_order_asked,
                    keep_every_part,
                    are_settled_once,
                    are_settled_by_one_of_many,
                    time_out,
                    are_not_settled_when_closed,
                    are_not_settled_when_over,
                    are_closed_when_over_from_the_start,
                    are_unknown_if_never_asked,
                    change_when_the_first_one_expires,
                };
                signals: {
                    come_in_the_order_accepted,
                    keep_every_part,
                    are_accepted_until_it_is_over,
                    are_accepted_once_with_a_key,
                    are_known_by_their_key_once_taken,
                    are_taken_with_the_records,
                    are_taken_once,
                    are_not_taken_with_an_old_fence,
                    get_numbers_of_their_own,
                    are_sent_by_one_of_many_with_the_same_key,
                    go_with_their_execution,
                    stay_when_it_is_over,
                    are_refused_for_an_unknown_execution,
                    are_refused_with_names_that_are_too_long,
                };
                waiting: {
                    ends_with_a_signal_of_the_name,
                    ends_at_once_if_one_is_there,
                    goes_on_after_other_signals,
                    goes_on_after_those_that_were_taken,
                    ends_with_what_comes_first,
                    is_over_after_the_next_write,
                    outlasts_a_claim_that_is_given_up,
                    does_not_resume_what_is_halted,
                    keeps_from_ending_once_there_is_one,
                };
                due: {
                    are_those_running_without_a_valid_claim,
                    are_those_with_an_answer,
                    are_those_with_a_time_out,
                    are_those_with_a_timer,
                    are_those_with_an_expired_question,
                    are_not_those_with_a_valid_claim,
                    are_those_with_a_claim_from_a_clock_that_is_ahead,
                    are_none_that_wait_or_are_over,
                    are_none_that_closed_what_was_settled,
                    come_oldest_first_and_limited,
                };
                queue: {
                    keeps_what_it_is_given,
                    gives_a_claim,
                    is_left_by_priority_and_age,
                    is_not_left_before_the_time,
                    is_left_by_flows_with_a_place,
                    is_left_while_the_key_has_room,
                    counts_what_began_without_it,
                    is_not_left_by_what_is_claimed_or_over,
                    gives_each_to_one_of_many,
                };
                list: {
                    has_the_newest_first,
                    is_limited,
                    goes_on_from_page_to_page,
                    goes_on_below_an_id_that_it_does_not_have,
                    filters_by_each_part,
                    filters_by_all_parts_together,
                    finds_those_that_ask,
                    tells_no_owner_from_an_empty_one,
                };
                log: {
                    has_the_records_of_all,
                    goes_on_after_an_offset,
                    is_that_of_one_execution,
                    grows_while_many_write,
                    gives_no_offset_twice,
                    ends_at_the_newest_offset,
                };
                delete: {
                    removes_all_that_belongs_to_it,
                    leaves_the_others,
                    frees_the_key,
                    makes_writes_fail,
                };
        }
    };
}

/// Generates a `#[test]` for each case that a [`Store`] with its own [clock](Store#clocks) must
/// pass.
///
/// Takes a function that gets an empty folder and returns a future of an empty store. `None` skips
/// the cases. [`suite!`](crate::suite!) passes its own times, so it needs a store without a clock.
#[macro_export]
macro_rules! clock_suite {
    ($fresh:expr) => {
        $crate::__clock_suite! {
            [$fresh]
            goes_on,
            keeps_claims_from_all,
            ends_claims_after_their_length,
            prolongs_claims_by_their_length,
            makes_first_claims,
            makes_claims_of_the_queue,
            keeps_claimed_ones_in_the_queue,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __clock_suite {
    ([$fresh:expr] $($case:ident),+ $(,)?) => {
        fn __fresh(
            folder: ::std::path::PathBuf,
        ) -> impl ::std::future::Future<Output = ::std::option::Option<impl $crate::Store>> {
            $crate::suite::fresh($fresh, folder)
        }

        $(
            #[test]
            fn $case() {
                $crate::suite::clock::test(__fresh, $crate::suite::clock::$case);
            }
        )+
    };
}

/// Generates a `#[test]` for each case that the [transactions](Store::transactions) of a [`Store`]
/// must pass.
///
/// Takes a function that gets an empty folder and returns a future of a
/// [`Ledger`](crate::suite::transactions::Ledger): an empty store, and a way to write to a table in
/// its database. `None` skips the cases.
#[macro_export]
macro_rules! transaction_suite {
    ($fresh:expr) => {
        $crate::__transaction_suite! {
            [$fresh]
            name_their_handle,
            commit_the_rows_with_the_record,
            commit_nothing_with_an_old_fence,
            commit_nothing_with_a_gap,
            take_signals_with_the_record,
            leave_nothing_when_rolled_back,
            leave_nothing_when_dropped,
            commit_rows_alone,
            commit_beside_each_other,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __transaction_suite {
    ([$fresh:expr] $($case:ident),+ $(,)?) => {
        fn __fresh(
            folder: ::std::path::PathBuf,
        ) -> impl ::std::future::Future<
            Output = ::std::option::Option<impl $crate::suite::transactions::Ledger>,
        > {
            $crate::suite::fresh($fresh, folder)
        }

        $(
            #[test]
            fn $case() {
                $crate::suite::transactions::test(
                    __fresh,
                    $crate::suite::transactions::$case,
                );
            }
        )+
    };
}

/// Generates a `#[test]` for each case that a [`Store`] behind a connection must pass if the answer
/// to a write is lost: the store repeats the write, which has its effect only once.
///
/// Takes a function that gets an empty folder and returns a future of a
/// [`Line`](crate::suite::lost_answers::Line): an empty store, and a way to lose an answer. `None`
/// skips the cases.
#[macro_export]
macro_rules! lost_answer_suite {
    ($fresh:expr) => {
        $crate::__lost_answer_suite! {
            [$fresh]
            of_writes_double_nothing,
            of_claims_leave_them_with_who_asked,
            of_the_queue_take_no_more,
            of_writes_without_records_do_them_once,
            of_settlements_tell_who_was_first,
            of_signals_send_them_once,
            of_an_id_that_is_taken_do_not_make_it_ones_own,
            of_late_writes_leave_them_refused,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __lost_answer_suite {
    ([$fresh:expr] $($case:ident),+ $(,)?) => {
        fn __fresh(
            folder: ::std::path::PathBuf,
        ) -> impl ::std::future::Future<
            Output = ::std::option::Option<impl $crate::suite::lost_answers::Line>,
        > {
            $crate::suite::fresh($fresh, folder)
        }

        $(
            #[test]
            fn $case() {
                $crate::suite::lost_answers::test(
                    __fresh,
                    $crate::suite::lost_answers::$case,
                );
            }
        )+
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    ([$fresh:expr] $($topic:ident: $cases:tt;)+) => {
        // The function is defined here so that it can name everything in scope at the call.
        fn __fresh(
            folder: ::std::path::PathBuf,
        ) -> impl ::std::future::Future<Output = impl $crate::suite::Fresh> {
            $crate::suite::fresh($fresh, folder)
        }

        $($crate::__suite! { @topic $topic $cases })+
    };
    (@topic $topic:ident { $($case:ident),+ $(,)? }) => {
        mod $topic {
            $(
                #[test]
                fn $case() {
                    $crate::suite::test(super::__fresh, $crate::suite::$topic::$case);
                }
            )+
        }
    };
}

/// Calls the function that creates a store, so that the type of its argument need not be written.
#[doc(hidden)]
pub fn fresh<FreshFuture>(
    fresh: impl FnOnce(PathBuf) -> FreshFuture,
    folder: PathBuf,
) -> FreshFuture {
    fresh(folder)
}

/// A store for a case, if there is one.
#[doc(hidden)]
pub trait Fresh {
    type Store: Store;

    fn store(self) -> Option<Self::Store>;
}

impl<S: Store> Fresh for S {
    type Store = S;

    fn store(self) -> Option<S> {
        Some(self)
    }
}

impl<S: Store> Fresh for Option<S> {
    type Store = S;

    fn store(self) -> Option<S> {
        self
    }
}

/// Runs a case on a separate store, with several threads, because some cases have concurrent tasks.
///
/// # Panics
///
/// The case fails.
#[doc(hidden)]
pub fn test<F: Fresh, FreshFuture, CaseFuture>(
    fresh: impl FnOnce(PathBuf) -> FreshFuture,
    case: impl FnOnce(Arc<dyn Store>) -> CaseFuture,
) where
    FreshFuture: Future<Output = F>,
    CaseFuture: Future<Output = ()>,
{
    run(fresh, async |fresh: F| {
        if let Some(store) = fresh.store() {
            case(Arc::new(store)).await;
        }
    });
}

fn run<T, FreshFuture, CaseFuture>(
    fresh: impl FnOnce(PathBuf) -> FreshFuture,
    case: impl FnOnce(T) -> CaseFuture,
) where
    FreshFuture: Future<Output = T>,
    CaseFuture: Future<Output = ()>,
{
    let folder = tempfile::tempdir().expect("a folder for a test can be made");
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("a tokio runtime can be built");
    tokio.block_on(async {
        case(fresh(folder.path().to_owned()).await).await;
    });
}
