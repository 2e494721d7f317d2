//! The attempts to get out, each with the barrier that must hold it.
//!
//! A command says `ESCAPED` if it got what it wanted. Where that is harmless the same command is
//! also run without a sandbox, and must say so there: an attempt that cannot work proves nothing.
//!
//! Names in braces are filled in: `{outside}` is the folder around the workspace, `{victim}` a
//! process outside, `{tcp}`, `{udp}`, `{abstract}` and `{socket}` listeners outside, `{tty}`
//! somebody's terminal, `{token}` a word by which processes are found, `{ptrace}` and the like
//! numbers of system calls.

use Barrier::{Any, Limits, Outer, Syscalls};
use Check::{Nothing, Outside};

/// What an attempt needs to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// Landlock and seccomp do, as bubblewrap does.
    Any,
    /// Only bubblewrap does.
    Outer,
    /// Only seccomp does.
    Syscalls,
    /// A limit does, whatever the barrier.
    Limits,
}

/// What is looked at outside afterwards, beside what the command said.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    Nothing,
    /// Is it as it was?
    Outside(fn(&crate::sandbox_scene::Scene) -> bool),
}

/// One attempt.
pub(crate) struct Attempt {
    /// Of findings, with a blank between; empty for the others.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) barrier: Barrier,
    pub(crate) command: &'static str,
    pub(crate) check: Check,
    /// Whether it is run without a sandbox too, and must succeed there.
    pub(crate) works_bare: bool,
}

const fn works(
    name: &'static str,
    barrier: Barrier,
    command: &'static str,
    check: Check,
) -> Attempt {
    Attempt { id: "", name, barrier, command, check, works_bare: true }
}

/// It would do harm without a sandbox, or work only for some accounts.
const fn never_bare(
    name: &'static str,
    barrier: Barrier,
    command: &'static str,
    check: Check,
) -> Attempt {
    Attempt { id: "", name, barrier, command, check, works_bare: false }
}

/// An attempt of a finding.
const fn found(id: &'static str, attempt: Attempt) -> Attempt {
    Attempt { id, ..attempt }
}

/// A system call that must be refused, not merely fail.
macro_rules! call {
    ($name:literal, $call:literal) => {
        never_bare(
            $name,
            Syscalls,
            concat!(
                "perl -MErrno -e '$b=\"\\0\" x 256; $n=\"x\"; syscall(",
                $call,
                "); exit !($!{EPERM}||$!{ENOSYS})' || echo ESCAPED"
            ),
            Nothing,
        )
    };
}

pub(crate) const FILES: &[Attempt] = &[
    never_bare("read /etc/shadow", Any, "cat /etc/shadow && echo ESCAPED", Nothing),
    never_bare(
        "read any private file of /etc",
        Any,
        "cat /etc/gshadow /etc/sudoers && echo ESCAPED",
        Nothing,
    ),
    works("read a file outside", Any, "grep -q secret {outside}/secret && echo ESCAPED", Nothing),
    works("list the home", Any, "ls -A {home} | grep -q . && echo ESCAPED", Nothing),
    works("read by ..", Any, "grep -q secret ../secret && echo ESCAPED", Nothing),
    works(
        "read through a symbolic link",
        Any,
        "ln -s {outside}/secret link && grep -q secret link && echo ESCAPED",
        Nothing,
    ),
    works(
        "read through a hard link",
        Any,
        "ln {outside}/secret hard && grep -q secret hard && echo ESCAPED",
        Nothing,
    ),
    works(
        "read through the root of a process",
        Any,
        "for p in 1 {victim} $PPID; do cat /proc/$p/root{outside}/secret; done | \
         grep -q secret && echo ESCAPED",
        Nothing,
    ),
    works(
        "write outside",
        Any,
        "echo x > {outside}/made && echo ESCAPED",
        Outside(|scene| !scene.outside("made").exists()),
    ),
    works(
        "write by ..",
        Any,
        "echo x > ../made && echo ESCAPED",
        Outside(|scene| !scene.outside("made").exists()),
    ),
    works(
        "write through a symbolic link",
        Any,
        "ln -s {outside} out && echo x > out/made && echo ESCAPED",
        Outside(|scene| !scene.outside("made").exists()),
    ),
    works(
        "cut a file outside",
        Any,
        "perl -e 'exit !truncate(\"{outside}/secret\", 1)' && echo ESCAPED",
        Outside(|scene| scene.content("secret") == "the secret"),
    ),
    works(
        "remove a file outside",
        Any,
        "rm -f {outside}/secret; [ -e {outside}/kept ] && echo ESCAPED",
        Outside(|scene| scene.content("secret") == "the secret"),
    ),
    never_bare(
        "write to the system",
        Any,
        "touch /usr/{token} /etc/{token} /usr/bin/{token} && echo ESCAPED",
        Outside(|scene| !["/usr", "/etc", "/usr/bin"].iter().any(|f| scene.token_is_in(f))),
    ),
    works(
        "leave a file in the system's /tmp",
        Any,
        "echo x > /tmp/{token}; [ -e {outside}/kept ] && echo ESCAPED",
        Outside(|scene| !scene.token_is_in("/tmp")),
    ),
    works(
        "leave a file in the machine's shared memory",
        Any,
        "echo x > /dev/shm/{token}; [ -e {outside}/kept ] && echo ESCAPED",
        Outside(|scene| !scene.token_is_in("/dev/shm")),
    ),
    works(
        "move the workspace away",
        Any,
        "cd / && mv {outside}/workspace {outside}/moved && echo ESCAPED",
        Outside(|scene| !scene.outside("moved").exists()),
    ),
    never_bare("make a device", Any, "mknod disk b 8 0 && head -c 1 disk && echo ESCAPED", Nothing),
    never_bare("see the disks", Outer, "ls /dev/sd* /dev/vd* /dev/mem && echo ESCAPED", Nothing),
    found(
        "S79",
        never_bare(
            "change the kernel's settings",
            Any,
            "v=$(cat /proc/sys/kernel/core_pattern); \
         echo \"$v\" > /proc/sys/kernel/core_pattern && echo ESCAPED",
            Nothing,
        ),
    ),
    never_bare("open the kernel's keys", Any, ": >> /proc/sysrq-trigger && echo ESCAPED", Nothing),
    works(
        "read beside a folder that was opened by its name alone",
        Any,
        "perl -e '$d=\"{outside}\"; $n=\"secret\"; $f=syscall({openat},-100,$d,010000000); \
         exit(syscall({openat},$f,$n,0)<0)' && echo ESCAPED",
        Nothing,
    ),
    works(
        "read from a folder gone into",
        Any,
        "cd {outside}; cat secret | grep -q secret && echo ESCAPED",
        Nothing,
    ),
    works(
        "read through a copy of a program in memory",
        Any,
        "perl -e '$n=\"x\"; $f=syscall({memfd_create},$n,0); open(O,\">&=\",$f); open(I,\"<\",\
         \"/bin/cat\"); local $/; print O <I>; close(I); $|=1; O->flush(); \
         exec(\"/proc/self/fd/$f\",\"{outside}/secret\")' | grep -q 'the secret' && echo ESCAPED",
        Nothing,
    ),
    works(
        "copy a file outside by the kernel",
        Any,
        "cp --reflink=auto {outside}/secret copy && grep -q secret copy && echo ESCAPED",
        Nothing,
    ),
    works(
        "exchange a file outside with one inside",
        Any,
        "echo mine > mine; mv mine {outside}/secret; [ -e {outside}/kept ] && echo ESCAPED",
        Outside(|scene| scene.content("secret") == "the secret"),
    ),
    works(
        "move a file outside in",
        Any,
        "mv {outside}/secret here && echo ESCAPED",
        Outside(|scene| scene.content("secret") == "the secret"),
    ),
    works(
        "change the rights of a file outside",
        Any,
        "chmod 0777 {outside}/secret && echo ESCAPED",
        Nothing,
    ),
    works("learn of a file outside", Outer, "[ -e {outside}/secret ] && echo ESCAPED", Nothing),
    works(
        "change the time of a file outside",
        Any,
        "touch -c -d '1 year ago' {outside}/secret && [ -e {outside}/secret ] && echo ESCAPED",
        Nothing,
    ),
    works(
        "make a folder outside",
        Any,
        "mkdir {outside}/made && echo ESCAPED",
        Outside(|scene| !scene.outside("made").exists()),
    ),
    works(
        "make a link outside",
        Any,
        "ln -s x {outside}/made && echo ESCAPED",
        Outside(|scene| !scene.outside("made").is_symlink()),
    ),
    works(
        "make a pipe outside",
        Any,
        "mkfifo {outside}/made && echo ESCAPED",
        Outside(|scene| !scene.outside("made").exists()),
    ),
    works(
        "write beside a file by its descriptor",
        Any,
        "perl -e 'opendir(D,\"..\") or exit 1; chdir(D) or exit 1; open(F,\">\",\"made\") or exit 1' \
         && echo ESCAPED",
        Outside(|scene| !scene.outside("made").exists()),
    ),
    never_bare(
        "write where programs keep their sockets",
        Any,
        "touch /run/{token} && echo ESCAPED",
        Outside(|scene| !scene.token_is_in("/run")),
    ),
    never_bare(
        "write to the machine's folder for long files",
        Any,
        "touch /var/tmp/{token}; echo tried",
        Outside(|scene| !scene.token_is_in("/var/tmp")),
    ),
    never_bare(
        "make a group of processes",
        Any,
        "mkdir /sys/fs/cgroup/{token} && echo ESCAPED",
        Outside(|scene| !scene.token_is_in("/sys/fs/cgroup")),
    ),
    never_bare(
        "open a device that leads on",
        Any,
        "for d in /dev/fuse /dev/kvm /dev/net/tun /dev/kmsg /dev/mem /dev/port /dev/vhost-vsock \
         /dev/loop-control /dev/mapper/control /dev/input/event0; do { : < $d; } 2>/dev/null && \
         echo ESCAPED; done; true",
        Nothing,
    ),
    works(
        "leave a program that has the account's rights for everybody",
        Any,
        "cp /bin/true s && chmod 4755 s; perl -e '$n=\"t\"; syscall({openat},-100,$n,0101,04755)'; \
         install -m 4755 /bin/true u; mknod v p 04755; echo tried",
        Outside(|scene| !["s", "t", "u"].iter().any(|name| scene.is_setuid(name))),
    ),
];

/// What lies in the workspace and must not change there.
pub(crate) const PROTECTED: &[Attempt] = &[
    works(
        "write a hook of git",
        Outer,
        "echo x > .git/hooks/post-checkout && echo ESCAPED",
        Outside(|scene| !scene.inside(".git/hooks/post-checkout").exists()),
    ),
    works(
        "write git's configuration",
        Outer,
        "echo '[core]' >> .git/config && echo ESCAPED",
        Nothing,
    ),
    works(
        "replace git's folder",
        Outer,
        "mv .git aside && mkdir -p .git/hooks && echo x > .git/hooks/x && echo ESCAPED",
        Outside(|scene| !scene.inside(".git/hooks/x").exists()),
    ),
    works(
        "write a hook through a link",
        Outer,
        "ln -s .git/hooks h && echo x > h/x && echo ESCAPED",
        Outside(|scene| !scene.inside(".git/hooks/x").exists()),
    ),
    works("replace a hook's folder", Outer, "mv .git/hooks .git/h && echo ESCAPED", Nothing),
    works(
        "lead git to other settings",
        Outer,
        "mkdir evil; echo ../evil > .git/commondir && echo ESCAPED",
        Outside(|scene| !scene.inside(".git/commondir").exists()),
    ),
    works(
        "remove what git keeps",
        Outer,
        "rm -rf .git/objects && echo ESCAPED",
        Outside(|scene| scene.inside(".git/objects/kept").exists()),
    ),
    works(
        "write a hook of a nested repository",
        Outer,
        "echo x > sub/.git/hooks/pre-commit && echo ESCAPED",
        Outside(|scene| !scene.inside("sub/.git/hooks/pre-commit").exists()),
    ),
    works(
        "write the settings of a nested repository",
        Outer,
        "echo x >> sub/.git/config && echo ESCAPED",
        Nothing,
    ),
    works(
        "replace the folder around a nested repository",
        Outer,
        "mv sub aside && mkdir -p sub/.git/hooks && echo ESCAPED",
        Outside(|scene| !scene.inside("aside").exists()),
    ),
    works(
        "write the repository that a file leads to",
        Outer,
        "echo x >> store/config && echo ESCAPED",
        Nothing,
    ),
    works("write mercurial's settings", Outer, "echo x >> .hg/hgrc && echo ESCAPED", Nothing),
    works("write an editor's tasks", Outer, "echo x > .vscode/tasks.json && echo ESCAPED", Nothing),
    works(
        "replace the folder around our own",
        Outer,
        "mv deep aside && mkdir -p deep/own && echo x > deep/own/config && echo ESCAPED",
        Outside(|scene| !scene.inside("aside").exists()),
    ),
    works("write a skill", Outer, "echo x > .agents/skill && echo ESCAPED", Nothing),
    works("write guidance", Outer, "echo x >> AGENTS.md && echo ESCAPED", Nothing),
    works("replace guidance", Outer, "rm AGENTS.md && echo x > AGENTS.md && echo ESCAPED", Nothing),
    works("replace the skills", Outer, "mv .agents a && mkdir .agents && echo ESCAPED", Nothing),
    works("write a start-up file", Outer, "echo x >> .bashrc && echo ESCAPED", Nothing),
    works("read our own key", Outer, "grep -q secret data/key && echo ESCAPED", Nothing),
    works(
        "write our own data",
        Outer,
        "echo x > data/key && echo ESCAPED",
        Outside(|scene| scene.inside_content("data/key") == "the secret"),
    ),
    works(
        "remove our own data",
        Outer,
        "rm -rf data; [ -e .git ] && echo ESCAPED",
        Outside(|scene| scene.inside_content("data/key") == "the secret"),
    ),
    works("move our own data away", Outer, "mv data d && echo ESCAPED", Nothing),
    works(
        "write guidance by a second name",
        Outer,
        "ln AGENTS.md x && echo x >> x && echo ESCAPED",
        Outside(|scene| scene.inside_content("AGENTS.md").is_empty()),
    ),
    works(
        "write guidance by a descriptor that reads",
        Outer,
        "exec 3< AGENTS.md; echo x >> /proc/self/fd/3 && echo ESCAPED",
        Outside(|scene| scene.inside_content("AGENTS.md").is_empty()),
    ),
    works(
        "put another file over guidance",
        Outer,
        "echo x > x; mv x AGENTS.md && echo ESCAPED",
        Outside(|scene| scene.inside_content("AGENTS.md").is_empty()),
    ),
    works("cut git's settings", Outer, ": > .git/config && echo ESCAPED", Nothing),
    works(
        "change the rights of a hook's folder",
        Outer,
        "chmod 777 .git/hooks && echo ESCAPED",
        Nothing,
    ),
    works("change the time of git's settings", Outer, "touch .git/config && echo ESCAPED", Nothing),
    works(
        "put a link in the place of the skills",
        Outer,
        "rm -rf .agents; mkdir e; ln -s e .agents && [ -L .agents ] && echo ESCAPED",
        Outside(|scene| !scene.inside(".agents").is_symlink()),
    ),
    works(
        "write our own data by a way around",
        Outer,
        "cd deep/../data && echo x > key; cd $OLDPWD; mv deep d2; echo x > data/./key && echo ESCAPED",
        Outside(|scene| scene.inside_content("data/key") == "the secret"),
    ),
    works("list our own data", Outer, "ls data | grep -q key && echo ESCAPED", Nothing),
    works(
        "read our own key by its bytes",
        Outer,
        "dd if=data/key 2>/dev/null | grep -q secret && echo ESCAPED",
        Nothing,
    ),
];

pub(crate) const NETWORK: &[Attempt] = &[
    works(
        "connect to the machine's own network",
        Any,
        "perl -MIO::Socket::INET -e \
         'exit !IO::Socket::INET->new(PeerAddr=>\"127.0.0.1:{tcp}\",Timeout=>5)' && echo ESCAPED",
        Nothing,
    ),
    works(
        "send a datagram",
        Any,
        "perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(Proto=>\"udp\",\
         PeerAddr=>\"127.0.0.1:{udp}\") or exit 1; exit !$s->send(\"x\")'; \
         [ -e {outside}/kept ] && echo ESCAPED",
        Outside(|scene| !scene.datagram_came()),
    ),
    never_bare(
        "find a way outside",
        Outer,
        "tail -n +3 /proc/net/dev | grep -qv ' lo:' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "connect outside",
        Any,
        "perl -MIO::Socket::INET -e \
         'exit !IO::Socket::INET->new(PeerAddr=>\"192.0.2.1:80\",Timeout=>5)' && echo ESCAPED",
        Nothing,
    ),
    works(
        "connect to an abstract socket",
        Any,
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; \
         exit !connect(S,pack(\"S\",AF_UNIX).\"\\0{abstract}\")' && echo ESCAPED",
        Nothing,
    ),
    works(
        "connect to a socket outside",
        Any,
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; \
         exit !connect(S,sockaddr_un(\"{socket}\"))' && echo ESCAPED",
        Nothing,
    ),
    found(
        "S44",
        works(
            "connect to a socket in the workspace",
            Any,
            "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; \
         exit !connect(S,sockaddr_un(\"agent.sock\"))' && echo ESCAPED",
            Nothing,
        ),
    ),
    works(
        "connect to a socket below the top, by another name",
        Any,
        "cp -l deep/agent.sock other 2>/dev/null; ln -s deep/agent.sock link; \
         perl -MSocket -e 'for (\"other\",\"link\",\"deep/../deep/agent.sock\") { \
         socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; exit 0 if connect(S,sockaddr_un($_)) } exit 1' \
         && echo ESCAPED",
        Nothing,
    ),
    works(
        "send to a socket in the workspace",
        Any,
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_DGRAM,0) or exit 1; \
         exit !send(S,\"x\",0,sockaddr_un(\"datagrams\"))' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "open a socket of another family",
        Syscalls,
        "perl -MErrno -MSocket -e 'for (38,40,29) { exit 0 if socket(S,$_,SOCK_STREAM,0); \
         exit 0 if !$!{EPERM} } exit 1' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "open a socket that sees every packet",
        Any,
        "perl -MSocket -e 'exit 0 if socket(S,17,SOCK_RAW,0); exit !socket(S,AF_INET,SOCK_RAW,1)' \
         && echo ESCAPED",
        Nothing,
    ),
    never_bare("look up a name", Any, "getent hosts example.com && echo ESCAPED", Nothing),
    works(
        "connect by the sixth protocol",
        Any,
        "perl -MSocket=:all -e 'socket(S,AF_INET6,SOCK_STREAM,0) or exit 1; exit !connect(S,\
         pack_sockaddr_in6({tcp},inet_pton(AF_INET6,\"::ffff:127.0.0.1\")))' && echo ESCAPED",
        Nothing,
    ),
    works(
        "send with the first packet",
        Any,
        "perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0) or exit 1; exit !defined(send(S,\"x\",\
         0x20000000,pack_sockaddr_in({tcp},inet_aton(\"127.0.0.1\"))))' && echo ESCAPED",
        Nothing,
    ),
    works(
        "connect to a socket in the workspace by its folder",
        Any,
        "cd deep && perl -MSocket -e 'for (\"agent.sock\",\"./agent.sock\",\"../agent.sock\") { \
         socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; exit 0 if connect(S,sockaddr_un($_)) } exit 1' \
         && echo ESCAPED",
        Nothing,
    ),
    works(
        "move a socket in the workspace and connect",
        Any,
        "mv agent.sock moved; perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; \
         exit !connect(S,sockaddr_un(\"moved\"))' && echo ESCAPED",
        Nothing,
    ),
];

pub(crate) const RIGHTS: &[Attempt] = &[
    works(
        "trace a process",
        Syscalls,
        "perl -e 'exit(syscall({ptrace},0,0,0,0)!=0)' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "mount",
        Any,
        "perl -e '$n=\"none\";$d=\".\";$t=\"tmpfs\";\
         exit(syscall({mount},$n,$d,$t,0,0)!=0)' && echo ESCAPED",
        Nothing,
    ),
    works(
        "make a namespace",
        Syscalls,
        "perl -e 'exit(syscall({unshare},0x10000000)!=0)' && echo ESCAPED",
        Nothing,
    ),
    never_bare("change the root", Any, "perl -e 'exit !chroot(\"/\")' && echo ESCAPED", Nothing),
    works(
        "gain rights by a program",
        Any,
        "grep -q 'NoNewPrivs:.0' /proc/self/status && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "keep a right of root",
        Any,
        "grep 'Cap[PE]..:' /proc/self/status | grep -qv ':.0*$' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "put a key into the keyring",
        Syscalls,
        "perl -e '$t=\"user\";$n=\"x\";$v=\"y\";\
         exit(syscall({add_key},$t,$n,$v,1,-3)<0)' && echo ESCAPED",
        Nothing,
    ),
    never_bare("change the machine's name", Any, "hostname {token} && echo ESCAPED", Nothing),
    works("see other processes", Outer, "[ -d /proc/{victim} ] && echo ESCAPED", Nothing),
    works(
        "read another process's environment",
        Any,
        "tr '\\0' '\\n' < /proc/{victim}/environ | grep -q '^TOKEN=' && echo ESCAPED",
        Nothing,
    ),
    works(
        "read what another process was called with",
        Any,
        "tr '\\0' ' ' < /proc/{victim}/cmdline | grep -q sleep && echo ESCAPED",
        Nothing,
    ),
    works("list the processes", Any, "ls /proc | grep -qx {victim} && echo ESCAPED", Nothing),
    found(
        "S81",
        works("write to another terminal", Any, "printf x > {tty} && echo ESCAPED", Nothing),
    ),
    works(
        "read from another terminal",
        Any,
        "perl -e 'open(F,\"+<\",\"{tty}\") or exit 1' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "take a terminal of its own and reach the others",
        Any,
        "for t in /dev/pts/[0-9]*; do : >> $t && echo ESCAPED; done",
        Nothing,
    ),
    works(
        "kill a process outside",
        Any,
        "kill -9 {victim} && echo ESCAPED",
        Outside(|scene| scene.victim_lives()),
    ),
    never_bare(
        "find a key in the environment",
        Any,
        "env | grep -q CARGO && echo ESCAPED",
        Nothing,
    ),
    works(
        "read with another library loaded",
        Any,
        "LD_PRELOAD=./none.so grep -q secret {outside}/secret && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "type into a terminal",
        Syscalls,
        "perl -MErrno -e 'ioctl(STDIN,0x5412,$c=\"x\"); exit !!$!{EPERM}' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "build a sandbox of its own",
        Any,
        "bwrap --bind / / cat {outside}/secret && echo ESCAPED",
        Nothing,
    ),
    call!("read another process's memory", "{process_vm_readv},{victim},0,0,0,0,0"),
    call!("write another process's memory", "{process_vm_writev},{victim},0,0,0,0,0"),
    call!("take a descriptor of another process", "{pidfd_getfd},0,0,0"),
    call!("take memory as a stack", "{mmap},0,4096,3,0x122,-1,0"),
    call!("compare with another process", "{kcmp},{victim},1,0,0,0"),
    call!("set up a ring of calls", "{io_uring_setup},8,$b"),
    call!("load a program into the kernel", "{bpf},5,$b,64"),
    call!("count the kernel's events", "{perf_event_open},$b,0,-1,-1,0"),
    call!("handle the faults of memory", "{userfaultfd},1"),
    call!("ask the keyring", "{keyctl},0,-3,0"),
    call!("ask for a key", "{request_key},$n,$n,0,0"),
    call!("name a file by its handle", "{name_to_handle_at},-100,$n,$b,$b,0"),
    call!("open a file by its handle", "{open_by_handle_at},-100,$b,0"),
    call!("enter another's namespace", "{setns},0,0"),
    call!("clone into a namespace", "{clone},0x10000000,0,0,0,0"),
    call!("open a file system", "{fsopen},$n,0"),
    call!("take a tree of mounts", "{open_tree},-100,$n,1"),
    call!("move a mount", "{move_mount},-1,$n,-1,$n,0"),
    call!("change a mount", "{mount_setattr},-1,$n,0,$b,32"),
    call!("turn the root", "{pivot_root},$n,$n"),
    call!("unmount", "{umount2},$n,2"),
    call!("read the kernel's log", "{syslog},3,$b,1"),
    call!("load a module", "{finit_module},0,$n,0"),
    call!("set the clock", "{clock_settime},0,$b"),
    works("make a namespace by a program", Syscalls, "unshare -U true && echo ESCAPED", Nothing),
    never_bare(
        "call by another number",
        Syscalls,
        "perl -e 'exit(syscall({ptrace}|0x40000000,0,0,0,0)!=0)' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "write the memory of the first process",
        Any,
        "perl -e 'for (1,getppid()) { exit 0 if open(F,\"+<\",\"/proc/$_/mem\") } exit 1' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "enter the first process's files",
        Any,
        "ls /proc/1/root/ /proc/1/cwd/ && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "find a terminal",
        Any,
        "{ [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || : < /dev/tty; } && echo ESCAPED",
        Nothing,
    ),
    works(
        "signal a process outside by its descriptor",
        Any,
        "perl -e '$f=syscall({pidfd_open},{victim},0); exit(syscall({pidfd_send_signal},$f,9,0,0)!=0)' \
         && echo ESCAPED",
        Outside(|scene| scene.victim_lives()),
    ),
    works(
        "signal a thread outside",
        Any,
        "perl -e 'exit(syscall({tgkill},{victim},{victim},9)!=0)' && echo ESCAPED",
        Outside(|scene| scene.victim_lives()),
    ),
    works("slow a process outside", Any, "renice 19 -p {victim} && echo ESCAPED", Nothing),
    works(
        "limit a process outside",
        Any,
        "prlimit --pid {victim} --nofile=9:9 && echo ESCAPED",
        Nothing,
    ),
    works(
        "read memory that others share",
        Any,
        "perl -e 'exit !shmread({shm},$b,0,4)' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "make a queue for others",
        Any,
        "perl -e '$n=\"{token}\"; exit(syscall({mq_open},$n,0102,0600,0)<0)' && [ ! -d /proc/1/task/1 ] && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "lift the filter",
        Any,
        "perl -e 'exit(syscall({prctl},22,0,0,0,0)!=0)' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "become another account",
        Any,
        "perl -e '$<=$>=1; $(=$)=1; exit !($>==1 && $<==1)' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "use a program with root's rights",
        Any,
        "su -c true root < /dev/null && echo ESCAPED",
        Nothing,
    ),
];

pub(crate) const LIMITS: &[Attempt] = &[
    works("take much memory", Limits, "perl -e '$x=\"a\" x (600<<20); print \"ESCAPED\"'", Nothing),
    found(
        "S49",
        never_bare(
            "share much memory at once",
            Syscalls,
            "perl -e 'exit(syscall({mmap},0,600<<20,3,0x21,-1,0)==-1)' && echo ESCAPED",
            Nothing,
        ),
    ),
    never_bare(
        "share much memory as a segment",
        Syscalls,
        "perl -e 'exit !defined(shmget(0,600<<20,0600))' && echo ESCAPED",
        Nothing,
    ),
    never_bare(
        "share much memory in small pieces",
        Limits,
        "perl -e 'open(Z,\"<\",\"/dev/zero\"); for (1..10) { \
         $a=syscall({mmap},0,64<<20,3,0x21,-1,0); syscall({read},fileno(Z),$a,64<<20) } \
         select(undef,undef,undef,3); print \"ESCAPED\"'",
        Nothing,
    ),
    works(
        "write a huge file",
        Limits,
        "dd if=/dev/zero of=huge bs=1M count=64 2>&1; [ -s huge ] && echo ESCAPED",
        Outside(|scene| scene.size("huge") <= crate::sandbox_scene::FILE_BYTES),
    ),
    never_bare(
        "take much of the shared memory",
        Outer,
        "[ $(df -Pk /dev/shm | awk 'END{print $2}') -gt 1048576 ] && echo ESCAPED",
        Nothing,
    ),
    never_bare("write beside the devices", Outer, "echo x > /dev/{token} && echo ESCAPED", Nothing),
    never_bare("burn time for ever", Limits, "perl -e '1 while 1'; echo ended", Nothing),
    works(
        "start processes without end",
        Limits,
        "i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i+1)); done; sleep 3; echo ESCAPED",
        Nothing,
    ),
    works(
        "write a huge file with nothing in it",
        Limits,
        "truncate -s 1G huge; [ -s huge ] && echo ESCAPED",
        Outside(|scene| scene.size("huge") <= crate::sandbox_scene::FILE_BYTES),
    ),
    found(
        "S48",
        never_bare(
            "start threads without end",
            Limits,
            "perl -Mthreads -e 'for (1..200) { threads->create(sub { sleep 60 }) or exit 1 } sleep 3; \
         print \"ESCAPED\"; threads->exit()'",
            Nothing,
        ),
    ),
];

/// Nobody is left of them, sandbox or not: the guard sees to that.
pub(crate) const LEFT: &[Attempt] = &[
    never_bare(
        "leave a process in the background",
        Any,
        "sh -c 'sleep 1000; :' {token} >&- 2>&- & echo left",
        Outside(|scene| scene.processes() == 0),
    ),
    never_bare(
        "fork twice",
        Any,
        "( ( sh -c 'sleep 1000; :' {token} >&- 2>&- & ) & ); echo left",
        Outside(|scene| scene.processes() == 0),
    ),
    never_bare(
        "leave the session",
        Any,
        "nohup setsid sh -c 'sleep 1000; :' {token} >/dev/null 2>&1 & echo left",
        Outside(|scene| scene.processes() == 0),
    ),
    never_bare(
        "take in the orphans",
        Any,
        "perl -e 'syscall({prctl},36,1,0,0,0); exit if fork; exec(\"sh\",\"-c\",\"sleep 1000; :\",\
         \"{token}\")' >&- 2>&-; echo left",
        Outside(|scene| scene.processes() == 0),
    ),
    never_bare(
        "hear no signal",
        Any,
        "(trap '' TERM HUP INT QUIT; sh -c 'sleep 1000; :' {token} >&- 2>&- &); echo left",
        Outside(|scene| scene.processes() == 0),
    ),
    never_bare(
        "stop itself",
        Any,
        "(sh -c 'kill -STOP $$; sleep 1000; :' {token} >&- 2>&- &); echo left",
        Outside(|scene| scene.processes() == 0),
    ),
    never_bare(
        "fork again and again",
        Any,
        "perl -e 'use POSIX; for (1..20) { exit if fork; POSIX::setsid() } exec(\"sh\",\"-c\",\
         \"sleep 1000; :\",\"{token}\")' >&- 2>&- & echo left",
        Outside(|scene| scene.processes() == 0),
    ),
];
