//! What a store accepts when it is opened.

use std::time::Duration;

use flow_redis::{Durability, RedisOptions, RedisStore};
use flow_services::Redis;
use flow_store::suite::fixtures::{append, claimed, records, told};
use flow_store::{Append, Store as _, StoreError};

use crate::servers::{cluster, options, shared};

/// Why a store cannot be opened.
async fn refused(url: &str, options: RedisOptions) -> String {
    let opened = RedisStore::connect_with(url, options.patience(Duration::ZERO)).await;
    told(&opened.unwrap_err())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_open_a_new_one_at_once() {
    let Some(server) = shared() else {
        return;
    };
    let options = options();
    let opening: Vec<_> = (0..12)
        .map(|_| {
            let options = options.clone();
            tokio::spawn(async move { RedisStore::connect_with(&server.url(), options).await })
        })
        .collect();
    for opened in opening {
        let store = opened.await.unwrap().unwrap();
        assert_eq!(store.last_offset().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_newer_one_is_refused() {
    let Some(server) = shared() else {
        return;
    };
    server.command(&["SET", "{newer}:version", "7"]);
    let options = RedisOptions::new().name("newer");
    let opened = RedisStore::connect_with(&server.url(), options).await;
    assert!(
        matches!(opened, Err(StoreError::TooNew { found: 7, known: 1 })),
        "{opened:?}"
    );
}

/// Each setting is refused with the command that mends it, and the option that allows it.
#[tokio::test]
async fn settings_that_break_the_promise_are_refused() {
    let Some(server) = Redis::start() else {
        return;
    };
    let (every_write, every_second, unchecked) = (
        Durability::EveryWrite,
        Durability::EverySecond,
        Durability::Unchecked,
    );
    let open = async |durability| {
        let options = RedisOptions::new().durability(durability);
        let opened = RedisStore::connect_with(&server.url(), options).await;
        opened.map(drop).map_err(|error| told(&error))
    };
    let refused = async |durability, words: &str| {
        let error = open(durability).await.unwrap_err();
        assert!(error.contains(words), "{error}");
    };
    open(every_write).await.unwrap();

    server.command(&["CONFIG", "SET", "appendfsync", "everysec"]);
    refused(every_write, "set it by `CONFIG SET appendfsync always`").await;
    refused(every_write, "allow the loss by `Durability::EverySecond`").await;
    open(every_second).await.unwrap();
    server.command(&["CONFIG", "SET", "appendfsync", "no"]);
    refused(every_second, "set it by `CONFIG SET appendfsync everysec`").await;
    open(unchecked).await.unwrap();

    server.command(&["CONFIG", "SET", "appendfsync", "always"]);
    server.command(&["CONFIG", "SET", "no-appendfsync-on-rewrite", "yes"]);
    refused(
        every_write,
        "set it by `CONFIG SET no-appendfsync-on-rewrite no`",
    )
    .await;
    server.command(&["CONFIG", "SET", "no-appendfsync-on-rewrite", "no"]);

    server.command(&["CONFIG", "SET", "appendonly", "no"]);
    refused(every_write, "set it by `CONFIG SET appendonly yes`").await;
    refused(every_second, "set it by `CONFIG SET appendonly yes`").await;
    open(unchecked).await.unwrap();

    server.command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    for durability in [every_write, every_second, unchecked] {
        refused(durability, "`CONFIG SET maxmemory-policy noeviction`").await;
    }
}

/// A server need not show its settings, if that is allowed.
#[tokio::test]
async fn settings_that_are_hidden_are_refused_unless_they_are_not_looked_at() {
    let Some(server) = shared() else {
        return;
    };
    let user = ["ACL", "SETUSER", "shy", "on", ">secret", "~*", "+@all"];
    server.command(&[&user[..], &["-config"]].concat());
    let url = server.url().replace("//", "//shy:secret@");
    let error = refused(&url, options()).await;
    assert!(error.contains("does not show `appendfsync`"), "{error}");
    let unchecked = options().durability(Durability::Unchecked);
    RedisStore::connect_with(&url, unchecked.clone())
        .await
        .unwrap();

    let user = ["ACL", "SETUSER", "shyer", "on", ">secret", "~*", "+@all"];
    server.command(&[&user[..], &["-config", "-info"]].concat());
    let url = server.url().replace("//", "//shyer:secret@");
    let error = refused(&url, options()).await;
    assert!(error.contains("does not show `INFO`"), "{error}");
    let store = RedisStore::connect_with(&url, unchecked).await.unwrap();
    claimed(&store).await;
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_told() {
    for (address, words) in [
        ("nonsense", "the address of the server is not valid"),
        ("http://127.0.0.1", "the address of the server is not valid"),
        (
            "redis://127.0.0.1:1/first",
            "the address of the server is not valid",
        ),
        ("redis://127.0.0.1:1", "the server cannot be reached"),
        #[cfg(not(feature = "tls"))]
        ("rediss://127.0.0.1:1", "add the feature `tls`"),
        ("redis://127.0.0.1:1#insecure", "has `#insecure` at its end"),
        ("redis://me:12#secret@host:6379", "has a `#` in it"),
        ("redis://me:pa#secret@host", "special characters as `%23`"),
        ("redis+unix:///s?pass=abc#secret", "has a `#` in it"),
        (
            "redis+unix:///s?pass=abc&secret",
            "has an unknown parameter",
        ),
        ("redis://host?secret=", "has an unknown parameter"),
        ("redis://127.0.0.1:1?cacert=a.pem", "write `rediss://`"),
        ("redis://127.0.0.1:1?naem=a", "the parameter `naem`"),
        (
            "redis://127.0.0.1:1?durability=some",
            "the durability `some`",
        ),
        ("redis://127.0.0.1:1?name=", "the name of a store"),
        ("redis://127.0.0.1:1?name=a}b", "the name of a store"),
    ] {
        let error = refused(address, RedisOptions::new()).await;
        assert!(error.contains(words), "{address}: {error}");
        assert!(!error.contains("secret"), "{address}: {error}");
    }
    let Some(server) = shared() else {
        return;
    };
    let url = server.url().replace("//", "//nobody:secret@");
    let error = refused(&url, options()).await;
    assert!(
        error.contains("the server refuses the user or the password"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
}

/// A server of a cluster that has not the store says which one has: that is no try that failed.
#[tokio::test]
async fn a_store_on_another_server_of_a_cluster_needs_no_patience() {
    let Some([one, other]) = cluster() else {
        return;
    };
    for server in [one, other] {
        // Some of these are on each of them.
        for _ in 0..8 {
            let options = options().patience(Duration::ZERO);
            let store = RedisStore::connect_with(&server.url(), options).await;
            claimed(&store.unwrap()).await;
        }
    }
}

/// Calls that wait for the same connection fail together, and each says why.
#[tokio::test]
async fn a_call_that_waited_for_a_connection_says_why_there_is_none() {
    let Some(mut server) = Redis::start() else {
        return;
    };
    let options = options().patience(Duration::ZERO);
    let store = RedisStore::connect_with(&server.url(), options).await;
    let store = store.unwrap();
    server.kill();
    let lost = store.last_offset().await.unwrap_err();
    assert!(told(&lost).contains("was lost"), "{}", told(&lost));
    let call = || store.last_offset();
    let (one, two, three) = tokio::join!(call(), call(), call());
    for failed in [one, two, three] {
        let failed = told(&failed.unwrap_err());
        assert!(failed.contains("the server cannot be reached"), "{failed}");
        assert!(failed.contains("refused"), "{failed}");
    }
}

/// A script of somebody else keeps everybody waiting, and the connection is as good as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_busy_is_waited_for_on_the_same_connection() {
    let Some(server) = Redis::start() else {
        return;
    };
    let store = RedisStore::connect_with(&server.url(), options()).await;
    let store = store.unwrap();
    let (id, fence) = claimed(&store).await;
    server.command(&["CONFIG", "SET", "lua-time-limit", "1"]);
    let clients = || {
        let clients = server.command(&["CLIENT", "LIST"]);
        let others = clients.lines().filter(|line| !line.contains("cmd=client"));
        let ids = others.filter_map(|line| line.split(' ').next());
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    let before = clients();
    assert_eq!(before.len(), 1);
    let long = "local sum = 0 for i = 1, 200000000 do sum = sum + i end return sum";
    std::thread::scope(|threads| {
        let script = threads.spawn(|| server.command(&["EVAL", long, "0"]));
        let calls = async {
            let mut seq = 1;
            while !script.is_finished() {
                let write = append(records(seq..seq + 1));
                store.append(id, fence, write).await.unwrap();
                seq += 1;
            }
        };
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| handle.block_on(calls));
    });
    let errors = server.command(&["INFO", "errorstats"]);
    assert!(errors.contains("errorstat_BUSY"), "{errors}");
    assert_eq!(clients(), before);
}

#[tokio::test]
async fn an_address_can_say_which_store_and_what_may_be_lost() {
    let Some(server) = Redis::start_with(&[]) else {
        return;
    };
    let url = format!("{}/3?name=billing&durability=unchecked", server.url());
    let store = RedisStore::connect(&url).await.unwrap();
    claimed(&store).await;
    let keys = server.command(&["-n", "3", "KEYS", "*"]);
    assert!(
        keys.lines().all(|key| key.starts_with("{billing}:")),
        "{keys}"
    );
    assert!(keys.lines().count() > 5, "{keys}");
}

#[tokio::test]
async fn options_may_be_as_large_as_they_can_be() {
    let Some(server) = shared() else {
        return;
    };
    let options = options()
        .patience(Duration::MAX)
        .answer_timeout(Duration::MAX);
    let store = RedisStore::connect_with(&server.url(), options).await;
    assert_eq!(store.unwrap().last_offset().await.unwrap(), 0);
}

/// Of a write without room, nothing is stored; reads go on.
#[tokio::test]
async fn a_server_without_room_stores_nothing_of_a_write() {
    let Some(server) = Redis::start() else {
        return;
    };
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let (id, fence) = claimed(&store).await;
    let write = append(records(1..2));
    store.append(id, fence, write).await.unwrap();
    let keys = server.command(&["KEYS", "*"]);
    server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    let ask = Append {
        opened: vec![flow_store::suite::fixtures::question(id)],
        ..append(records(2..3))
    };
    let full = store.append(id, fence, ask.clone()).await;
    assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 2);
    assert_eq!(store.log(None, 0, 9).await.unwrap().len(), 2);
    assert_eq!(
        server.command(&["KEYS", "*"]).lines().count(),
        keys.lines().count()
    );
    server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    store.append(id, fence, ask).await.unwrap();
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 3);
}
