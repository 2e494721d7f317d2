//! The attempts to get out, each with the wall that must hold it.
//!
//! A command says `ESCAPED` if it got what it wanted. Where that is harmless the same command is
//! also run without walls, and must say so there: an attempt that cannot work proves nothing.
//!
//! Names in braces are filled in: `{outside}` is the folder around the workspace, `{victim}` a
//! process outside, `{tcp}`, `{udp}`, `{abstract}` and `{socket}` listeners outside, `{tty}`
//! somebody's terminal, `{token}` a word by which processes are found, `{ptrace}` and the like
//! numbers of system calls.

use Check::{Nothing, Outside};
use Wall::{Any, Limits, Outer, Syscalls};

/// What an attempt needs to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wall {
    /// Landlock and seccomp do, as bubblewrap does.
    Any,
    /// Only bubblewrap does.
    Outer,
    /// Only seccomp does.
    Syscalls,
    /// A limit does, whatever the wall.
    Limits,
}

/// What is looked at outside afterwards, beside what the command said.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    Nothing,
    /// Is it as it was?
    Outside(fn(&super::Scene) -> bool),
}

/// One attempt.
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    pub(crate) wall: Wall,
    pub(crate) command: &'static str,
    pub(crate) check: Check,
    /// Whether it is run without walls too, and must succeed there.
    pub(crate) works_bare: bool,
}

pub(crate) const fn works(
    name: &'static str,
    wall: Wall,
    command: &'static str,
    check: Check,
) -> Attempt {
    Attempt { name, wall, command, check, works_bare: true }
}

/// It would do harm without walls, or work only for some accounts.
pub(crate) const fn never_bare(
    name: &'static str,
    wall: Wall,
    command: &'static str,
    check: Check,
) -> Attempt {
    Attempt { name, wall, command, check, works_bare: false }
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
    never_bare(
        "change the kernel's settings",
        Any,
        "v=$(cat /proc/sys/kernel/core_pattern); \
         echo \"$v\" > /proc/sys/kernel/core_pattern && echo ESCAPED",
        Nothing,
    ),
    never_bare("open the kernel's keys", Any, ": >> /proc/sysrq-trigger && echo ESCAPED", Nothing),
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
    works(
        "connect to a socket in the workspace",
        Any,
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1; \
         exit !connect(S,sockaddr_un(\"agent.sock\"))' && echo ESCAPED",
        Nothing,
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
    works("write to another terminal", Any, "printf x > {tty} && echo ESCAPED", Nothing),
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
];

pub(crate) const LIMITS: &[Attempt] = &[
    works("take much memory", Limits, "perl -e '$x=\"a\" x (600<<20); print \"ESCAPED\"'", Nothing),
    never_bare(
        "share much memory at once",
        Syscalls,
        "perl -e 'exit(syscall({mmap},0,600<<20,3,0x21,-1,0)==-1)' && echo ESCAPED",
        Nothing,
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
        Outside(|scene| scene.size("huge") <= super::FILE_BYTES),
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
];

/// Nobody is left of them, walls or not: the guard sees to that.
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
];
