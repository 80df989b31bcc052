//! Addresses of stores as they are shown: without passwords.
//!
//! The difficulty is an address with a mistake, in which the password can be anywhere. Only the
//! start of such an address is shown.

/// Returns an address without its password, which may follow the user's name or be a parameter.
pub(super) fn shown(text: &str) -> String {
    match text.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", without_password(rest)),
        None if text.contains('@') || text.to_ascii_lowercase().contains("password") => {
            let beginning = text.split([':', '@', '=']).next().unwrap_or_default();
            format!("{beginning}…")
        }
        None => text.to_owned(),
    }
}

/// Removes the password from the part after the scheme.
fn without_password(rest: &str) -> String {
    // The part after the `?` may have an `@` too.
    let (address, parameters) = match rest.split_once('?') {
        Some((address, parameters)) => (address, Some(parameters)),
        None => (rest, None),
    };
    let mut shown = match address.rsplit_once('@') {
        Some((user, host)) => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{name}@{host}")
        }
        None if parameters.is_some_and(|them| them.contains('@')) || !has_port(address) => {
            // The `?` may belong to a password, or the host may be missing.
            let beginning = address.split([':', '/']).next().unwrap_or_default();
            return format!("{beginning}…");
        }
        None => address.to_owned(),
    };
    let parameters = parameters.into_iter().flat_map(|them| them.split('&'));
    let harmless = parameters.filter(|parameter| is_harmless(parameter));
    for (parameter, before) in harmless.zip("?".chars().chain(std::iter::repeat('&'))) {
        shown.push(before);
        shown.push_str(parameter);
    }
    shown
}

/// Returns `true` if the text after the host of an address without a user can be a port.
fn has_port(address: &str) -> bool {
    let host = address.split('/').next().unwrap_or_default();
    // The colons of an IPv6 address are in brackets.
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    let port = after.split_once(':').map_or("", |(_, port)| port);
    port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns `true` if a parameter cannot be a password or a part of one.
fn is_harmless(parameter: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_key = |key: &str| !key.is_empty() && key.bytes().all(is_plain);
    let has_key = parameter
        .split_once('=')
        .is_some_and(|(key, _)| is_key(key));
    // A Redis socket has `pass`.
    parameter.is_empty() || (has_key && !parameter.to_ascii_lowercase().contains("pass"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (text, without) in [
            ("sqlite:runs.db", "sqlite:runs.db"),
            ("runs.db", "runs.db"),
            ("postgres://me@host/flows", "postgres://me@host/flows"),
            ("postgres://host/flows", "postgres://host/flows"),
            ("postgres://host:1/flows?a=b", "postgres://host:1/flows?a=b"),
            ("postgres://[::1]:1/flows", "postgres://[::1]:1/flows"),
            (
                "postgres://me:se:cr@t@host:1/flows?password=secret&a=b&c=d",
                "postgres://me@host:1/flows?a=b&c=d",
            ),
            (
                "postgres://me:secret@host/flows?a=b&password=sec@ret",
                "postgres://me@host/flows?a=b",
            ),
            (
                "postgres://host/flows?password=sec@ret&a=b",
                "postgres://host…",
            ),
            (
                "postgres://me@host/flows?p%61ssword=secret&password=x&secret@b&=secret",
                "postgres://me@host/flows",
            ),
            ("postgresql://me:secret@host?", "postgresql://me@host?"),
            ("POSTGRES://me:secret@host/a", "POSTGRES://me@host/a"),
            ("mysql://me:secret@host/a", "mysql://me@host/a"),
            (
                "redis://:secret@host:1/0?name=a",
                "redis://@host:1/0?name=a",
            ),
            ("redis+unix:///a?pass=secret&db=1", "redis+unix:///a?db=1"),
            ("postgres://me:secret", "postgres://me…"),
            ("postgres://me:secret/a", "postgres://me…"),
            ("postgres:me:secret@host", "postgres…"),
            ("me:secret@host/a", "me…"),
            ("host=a password=secret", "host…"),
            // Only the start, since the address is ambiguous.
            ("postgres://me:se?cret@host/a", "postgres://me…"),
            ("postgres://", "postgres://"),
            ("postgres://@", "postgres://@"),
        ] {
            assert_eq!(shown(text), without, "{text}");
        }
    }
}
