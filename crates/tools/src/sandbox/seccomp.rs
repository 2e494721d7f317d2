//! Seccomp: system calls that commands in a workspace do not need and that have been used to escape
//! from sandboxes.
//!
//! Refused with "not permitted", so that a program can go on without; `clone3`, whose arguments a
//! filter cannot see, is refused as unknown, and programs take `clone` instead.

use super::inner::{KernelAccess, SocketAccess};
use seccompiler::SeccompCmpOp::{Eq, Gt, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::collections::BTreeMap;

type SyscallRules = BTreeMap<i64, Vec<SeccompRule>>;

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

/// Where no namespace keeps a command apart: memory, queues and locks of the account's other
/// processes.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_process_mrelease,
];

/// Landlock does not bind what changes modes, owners, times and attributes by a path.
const BY_PATH: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// The same by a file that is open. Root owns what every command may open to read.
const BY_OPEN_FILE: &[i64] =
    &[libc::SYS_fchmod, libc::SYS_fchown, libc::SYS_fsetxattr, libc::SYS_fremovexattr];

/// Calls that are newer than the library; all machines have the same numbers for them.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// Calls that act on the process whose number is this argument, on the caller if it is 0.
const BY_PROCESS: &[(i64, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// Calls of which the first argument says whether the next is a process, and how it says so: it may
/// be a whole account too.
const BY_KIND: &[(i64, u64)] = &[(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// Calls that give a file its mode, and which argument is the mode.
const MODES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
];

/// The same where a file is only made if the flags before the mode say so.
const OPENS: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
    (libc::SYS_openat, 2),
];

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

/// The families of sockets that need no file.
const WITHOUT_FILES: [libc::c_int; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The families of sockets of everyday programs.
const USUAL: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The bit of a mode by which a program runs with the rights of the file's owner.
const SET_UID: u64 = 0o4000;

/// Puts words into the input of a terminal.
const TERMINAL_INPUT: [u64; 2] = [0x5412, 0x541C];

/// On x86-64 every call has a second number.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERS: Option<i64> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const OTHER_NUMBERS: Option<i64> = None;

/// Refuses them, for this process and all that it starts.
pub(crate) fn restrict(kernel: KernelAccess, memory_max: Option<u64>) -> Result<(), String> {
    let refused = rules(kernel).map_err(|error| error.to_string())?;
    let unknown = [libc::SYS_clone3, libc::SYS_openat2].map(|call| (call, Vec::new()));
    let unknown = BTreeMap::from(unknown);
    let large =
        memory_max.map_or(Ok(SyscallRules::new()), large).map_err(|error| error.to_string())?;
    let filters = [(unknown, libc::ENOSYS), (refused, libc::EPERM), (large, libc::ENOMEM)];
    for (rules, error) in filters.into_iter().filter(|(rules, _)| !rules.is_empty()) {
        apply_filter(&program(rules, error)?).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn program(rules: SyscallRules, error: libc::c_int) -> Result<BpfProgram, String> {
    let arch = std::env::consts::ARCH.try_into();
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let filter = arch.and_then(|arch| {
        SeccompFilter::new(twice(rules), SeccompAction::Allow, refuse, arch)?.try_into()
    });
    filter.map_err(|error: seccompiler::BackendError| error.to_string())
}

fn twice(rules: SyscallRules) -> SyscallRules {
    let Some(offset) = OTHER_NUMBERS else { return rules };
    let others: SyscallRules = rules.iter().map(|(call, of)| (call | offset, of.clone())).collect();
    rules.into_iter().chain(others).collect()
}

fn rules(kernel: KernelAccess) -> Result<SyscallRules, seccompiler::BackendError> {
    let mut rules: SyscallRules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    modes(&mut rules)?;
    if kernel.is_shared {
        shared(&mut rules)?;
    }
    let namespaces = NAMESPACES.map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        SeccompRule::new(vec![condition(0, MaskedEq(flag), flag)?])
    });
    rules.insert(libc::SYS_clone, namespaces.into_iter().collect::<Result<_, _>>()?);
    let input = TERMINAL_INPUT.map(|order| SeccompRule::new(vec![condition(1, Eq, order)?]));
    rules.insert(libc::SYS_ioctl, input.into_iter().collect::<Result<_, _>>()?);
    let usual: &[libc::c_int] = match kernel.sockets {
        SocketAccess::None => &[],
        SocketAccess::WithoutFiles => &WITHOUT_FILES,
        SocketAccess::Usual => &USUAL,
    };
    let none_of = usual.iter().map(|family| condition(0, Ne, u64::from(family.unsigned_abs())));
    let none_of: Vec<SeccompCondition> = none_of.collect::<Result<_, _>>()?;
    let unusual = match none_of.is_empty() {
        true => Vec::new(),
        false => vec![SeccompRule::new(none_of)?],
    };
    rules.insert(libc::SYS_socket, unusual);
    // Memory of a stack is not counted among a process's own, and only the kernel makes stacks.
    let stack = u64::from(libc::MAP_GROWSDOWN.unsigned_abs());
    let stack = SeccompRule::new(vec![condition(3, MaskedEq(stack), stack)?])?;
    rules.insert(libc::SYS_mmap, vec![stack]);
    Ok(rules)
}

/// A file that runs with the rights of its owner would outlast the sandbox.
fn modes(rules: &mut SyscallRules) -> Result<(), seccompiler::BackendError> {
    let of_owner = |arg| condition(arg, MaskedEq(SET_UID), SET_UID);
    for (call, mode) in MODES {
        rules.insert(*call, vec![SeccompRule::new(vec![of_owner(*mode)?])?]);
    }
    for (call, flags) in OPENS {
        let makes = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY].map(|flag| {
            let flag = u64::from(flag.unsigned_abs());
            SeccompRule::new(vec![condition(*flags, MaskedEq(flag), flag)?, of_owner(flags + 1)?])
        });
        rules.insert(*call, makes.into_iter().collect::<Result<_, _>>()?);
    }
    Ok(())
}

/// What a namespace or a mount would keep apart.
fn shared(rules: &mut SyscallRules) -> Result<(), seccompiler::BackendError> {
    rules.extend(SHARED.iter().chain(BY_PATH).map(|call| (*call, Vec::new())));
    if rustix::process::geteuid().is_root() {
        rules.extend(BY_OPEN_FILE.iter().map(|call| (*call, Vec::new())));
    }
    let named = SeccompCondition::new(1, SeccompCmpArgLen::Qword, Ne, 0)?;
    rules.insert(libc::SYS_utimensat, vec![SeccompRule::new(vec![named])?]);
    for (call, process) in BY_PROCESS {
        rules.insert(*call, vec![SeccompRule::new(vec![condition(*process, Ne, 0)?])?]);
    }
    for (call, process) in BY_KIND {
        let other = SeccompRule::new(vec![condition(0, Ne, *process)?])?;
        rules.entry(*call).or_default().push(other);
    }
    Ok(())
}

/// Memory that is shared is not counted among a process's own: no single piece is larger than that.
fn large(most: u64) -> Result<SyscallRules, seccompiler::BackendError> {
    let size = || SeccompCondition::new(1, SeccompCmpArgLen::Qword, Gt, most);
    let shared = u64::from((libc::MAP_SHARED | libc::MAP_ANONYMOUS).unsigned_abs());
    let mapped = SeccompRule::new(vec![size()?, condition(3, MaskedEq(shared), shared)?])?;
    let segment = SeccompRule::new(vec![size()?])?;
    Ok(SyscallRules::from([(libc::SYS_mmap, vec![mapped]), (libc::SYS_shmget, vec![segment])]))
}

fn condition(
    arg: u8,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(arg, SeccompCmpArgLen::Dword, op, value)
}
