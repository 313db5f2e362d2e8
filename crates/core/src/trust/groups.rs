//! Private groups: groups whose only members are root and the user.

use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Returns whether root and the user are the only members of a group. Users and groups that only a directory
/// service knows are not looked up.
pub(super) fn is_private(gid: u32) -> bool {
    static PRIVATE: OnceLock<BTreeSet<u32>> = OnceLock::new();
    let read = |path| fs_err::read_to_string(path).unwrap_or_default();
    PRIVATE.get_or_init(|| private(&read("/etc/passwd"), &read("/etc/group"), super::user())).contains(&gid)
}

/// Lists the private groups of a user. A group without members does not count: such groups belong to programs.
fn private(passwd: &str, group: &str, user: u32) -> BTreeSet<u32> {
    let trusted = |uid: u32| uid == 0 || uid == user;
    let number = |text: &str| text.parse::<u32>().ok();
    // (name, user, primary group)
    let users: Vec<(&str, u32, u32)> = passwd
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            Some((fields.next()?, number(fields.nth(1)?)?, number(fields.next()?)?))
        })
        .collect();
    let is_private = |gid: u32, listed: &str| {
        let named: Vec<&str> = listed.split(',').filter(|name| !name.is_empty()).collect();
        let mut primary =
            users.iter().filter(|(_, _, group)| *group == gid).map(|(_, uid, _)| *uid).peekable();
        (primary.peek().is_some() || !named.is_empty())
            && primary.all(trusted)
            && named.iter().all(|name| users.iter().any(|(known, uid, _)| known == name && trusted(*uid)))
    };
    let groups = group.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let gid = number(fields.nth(2)?)?;
        is_private(gid, fields.next().unwrap_or_default()).then_some(gid)
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::private;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/h/ann:/bin/sh\n\
        bob:x:1001:1001::/h/bob:/bin/sh\neve:x:1002:50::/h/eve:/bin/sh\nnot a line\n";
    const GROUP: &str = "root:x:0:\nann:x:1000:\nbob:x:1001:\nstaff:x:50:ann\nadm:x:4:root,ann\n\
        both:x:60:ann,bob\nempty:x:70:\ngone:x:80:nobody-here\njunk\n";

    #[test]
    fn group_without_other_members_is_private() {
        let of = |user| private(PASSWD, GROUP, user).into_iter().collect::<Vec<u32>>();
        assert_eq!(of(1000), [0, 4, 1000], "staff is eve's primary group");
        assert_eq!(of(1001), [0, 1001]);
        assert_eq!(of(0), [0]);
        assert_eq!(of(4242), [0], "a user without a name, as in a container");
        assert!(private("", "", 0).is_empty(), "no files, no private groups");
    }
}
