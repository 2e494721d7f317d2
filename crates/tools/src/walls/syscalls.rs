//! Seccomp: system calls that no command in a workspace needs, and that have led out of sandboxes.
//!
//! Refused with "not permitted", so that a program can go on without; `clone3` and `openat2`, whose
//! arguments a filter cannot see, are refused as unknown, and programs take the older ones instead.

use super::inner::Sockets;
use seccompiler::SeccompCmpOp::{Eq, Gt, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Other processes, mounts and namespaces, the kernel itself, its keys, its clock.
const REFUSED: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Memory and queues that processes of the account share by a number or a name. Behind the outer
/// wall they are the command's own; Landlock knows nothing of them.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Calls that give a file its mode, with the place of the mode and of the flags that say whether it
/// counts.
#[cfg(target_arch = "x86_64")]
const MODES: &[(i64, u8, Option<u8>)] = &[
    (libc::SYS_fchmod, 1, None),
    (libc::SYS_fchmodat, 2, None),
    (libc::SYS_fchmodat2, 2, None),
    (libc::SYS_mknodat, 2, None),
    (libc::SYS_openat, 3, Some(2)),
    (libc::SYS_chmod, 1, None),
    (libc::SYS_mknod, 1, None),
    (libc::SYS_creat, 1, None),
    (libc::SYS_open, 2, Some(1)),
];
#[cfg(not(target_arch = "x86_64"))]
const MODES: &[(i64, u8, Option<u8>)] = &[
    (libc::SYS_fchmod, 1, None),
    (libc::SYS_fchmodat, 2, None),
    (libc::SYS_fchmodat2, 2, None),
    (libc::SYS_mknodat, 2, None),
    (libc::SYS_openat, 3, Some(2)),
];

/// Flags of opening a file with which its mode counts: it is made, with or without a name.
const MAKING: [u64; 2] = [0o100, 0o20_000_000];

/// Whoever runs such a file has the rights of its owner.
const SET_UID: u64 = 0o4000;

/// What makes `clone` make namespaces.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The families of sockets of everyday programs.
const USUAL: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Puts words into the input of a terminal.
const TERMINAL_INPUT: [u64; 2] = [0x5412, 0x541C];

/// On x86-64 every call has a second number.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERS: Option<i64> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const OTHER_NUMBERS: Option<i64> = None;

/// Refuses them, for this process and all that it starts.
pub(crate) fn restrict(sockets: Sockets, memory_max: Option<u64>) -> Result<(), String> {
    let refused = rules(sockets).map_err(|error| error.to_string())?;
    let unknown = [libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new()));
    let unknown = BTreeMap::from(unknown);
    let large = memory_max.map_or(Ok(Rules::new()), large).map_err(|error| error.to_string())?;
    let filters = [(unknown, libc::ENOSYS), (refused, libc::EPERM), (large, libc::ENOMEM)];
    for (rules, error) in filters.into_iter().filter(|(rules, _)| !rules.is_empty()) {
        apply_filter(&program(rules, error)?).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn program(rules: Rules, error: libc::c_int) -> Result<BpfProgram, String> {
    let arch = std::env::consts::ARCH.try_into();
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let filter = arch.and_then(|arch| {
        SeccompFilter::new(twice(rules), SeccompAction::Allow, refuse, arch)?.try_into()
    });
    filter.map_err(|error: seccompiler::BackendError| error.to_string())
}

fn twice(rules: Rules) -> Rules {
    let Some(offset) = OTHER_NUMBERS else { return rules };
    let others: Rules = rules.iter().map(|(call, of)| (call | offset, of.clone())).collect();
    rules.into_iter().chain(others).collect()
}

fn rules(sockets: Sockets) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let namespaces = NAMESPACES.map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        SeccompRule::new(vec![condition(0, MaskedEq(flag), flag)?])
    });
    rules.insert(libc::SYS_clone, namespaces.into_iter().collect::<Result<_, _>>()?);
    let input = TERMINAL_INPUT.map(|order| SeccompRule::new(vec![condition(1, Eq, order)?]));
    rules.insert(libc::SYS_ioctl, input.into_iter().collect::<Result<_, _>>()?);
    let unusual = match sockets {
        Sockets::None => Vec::new(),
        Sockets::Usual => {
            let none_of = USUAL.map(|family| condition(0, Ne, u64::from(family.unsigned_abs())));
            vec![SeccompRule::new(none_of.into_iter().collect::<Result<_, _>>()?)?]
        }
    };
    rules.insert(libc::SYS_socket, unusual);
    if sockets == Sockets::None {
        rules.extend(SHARED.iter().map(|call| (*call, Vec::new())));
    }
    // The limits of others: a process without time or files ends.
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![condition(0, Ne, 0)?])?]);
    for (call, mode, flags) in MODES {
        rules.insert(*call, set_uid(*mode, *flags)?);
    }
    Ok(rules)
}

/// A file that would give the account's rights to whoever runs it is not made.
fn set_uid(mode: u8, flags: Option<u8>) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let is_set = || condition(mode, MaskedEq(SET_UID), SET_UID);
    let Some(flags) = flags else { return Ok(vec![SeccompRule::new(vec![is_set()?])?]) };
    let making = MAKING
        .map(|flag| SeccompRule::new(vec![is_set()?, condition(flags, MaskedEq(flag), flag)?]));
    making.into_iter().collect()
}

/// Memory that is shared is not counted among a process's own: no single piece is larger than that.
fn large(most: u64) -> Result<Rules, seccompiler::BackendError> {
    let size = || SeccompCondition::new(1, SeccompCmpArgLen::Qword, Gt, most);
    let shared = u64::from((libc::MAP_SHARED | libc::MAP_ANONYMOUS).unsigned_abs());
    let mapped = SeccompRule::new(vec![size()?, condition(3, MaskedEq(shared), shared)?])?;
    let segment = SeccompRule::new(vec![size()?])?;
    Ok(Rules::from([(libc::SYS_mmap, vec![mapped]), (libc::SYS_shmget, vec![segment])]))
}

fn condition(
    arg: u8,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(arg, SeccompCmpArgLen::Dword, op, value)
}
