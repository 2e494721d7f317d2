//! Which files a command can see, and which paths of the workspace are protected from it.

use super::disarm;
use super::repositories::{WorkspaceScan, git_dirs_in};
use super::sockets;
use super::trusted_files::{TrustedFiles, names_at_top, user_trusted_files};
use super::{GitAccess, Network, SandboxBuilder};
use crate::git_paths::configured_paths;
use crate::home::AccountHome;
use crate::programs::file_of;
use crate::protected::{START_UP, VERSION_CONTROL, real};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Folders of the system that every command may read.
pub(crate) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/gnu"];

/// Devices that every command may use. No terminals: a terminal of the command cannot be
/// distinguished from others of the account.
pub(crate) const DEVICES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What every command may know of the machine; nothing of its other processes.
pub(crate) const MACHINE: [&str; 10] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/swaps",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
];

/// Where root changes the kernel.
pub(crate) const KERNEL: [&str; 7] = [
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/acpi",
    "/proc/scsi",
    "/proc/fs",
];

/// The system's settings, of which only what everybody may read is shown.
pub(crate) const SETTINGS: &str = "/etc";

/// Folders below the settings that are looked into for what not everybody may read.
const DEPTH_MAX: usize = 4;

/// How deep in the workspace a place can be shut by itself.
const DEPTH_SHUT_MAX: usize = 40;

/// Bytes of the path of such a place, from the workspace.
const PATH_BYTES_MAX: usize = 2_000;

/// What stays read-only in a repository that commands may write: files that make git run programs
/// or use other folders.
const SHUT_IN_GIT: [&str; 6] =
    ["hooks", "config", "config.worktree", "info", "modules", "worktrees"];

/// How a path in the workspace is protected, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProtectionLevel {
    /// It stays where it is, but what is in it may change.
    Pinned,
    /// It can be read, and not changed.
    ReadOnly,
    /// It cannot even be read.
    Hidden,
}

/// A path in the workspace that a command may not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProtectedPath {
    pub(crate) path: PathBuf,
    pub(crate) how: ProtectionLevel,
}

/// What is protected in a workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Outer paths before inner ones.
    pub(crate) places: Vec<ProtectedPath>,
    /// What was found on the way.
    pub(crate) found: WorkspaceScan,
    /// What is compared after the command because the sandbox cannot hold it.
    pub(crate) trusted: TrustedFiles,
    /// What may be written instead of the workspace.
    pub(crate) written: Option<Vec<PathBuf>>,
    /// Whether no socket was overlooked that a command must not reach.
    pub(crate) hides_sockets: bool,
}

/// How far a survey looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SurveyDepth {
    /// By names at the top: enough to tell whether a sandbox can be built.
    Top,
    /// Through the whole workspace.
    Through,
    /// The same where no socket can be opened anyway.
    PastSockets,
}

impl Survey {
    /// Surveys a workspace. An error says what the sandbox cannot protect in it.
    pub(crate) fn of(builder: &SandboxBuilder<'_>, look: SurveyDepth) -> Result<Self, String> {
        let workspace = builder.workspace;
        if let Some(link) = link_at_top(workspace) {
            return Err(format!("{} is a link, which nothing protects", link.display()));
        }
        if let Some(path) = disarm::blocking_path(workspace) {
            let path = path.display();
            return Err(format!("a command made {path}, and it could not be made harmless"));
        }
        let found = match look {
            SurveyDepth::Top => WorkspaceScan::at_top(workspace),
            SurveyDepth::Through | SurveyDepth::PastSockets => WorkspaceScan::before(workspace),
        };
        let mut all = ProtectedPaths { workspace, places: BTreeMap::new() };
        all.add_found(&found, builder.setting.git)?;
        if builder.setting.network == Network::Off && look == SurveyDepth::Through {
            found
                .sockets
                .iter()
                .for_each(|socket| all.add(socket.clone(), ProtectionLevel::Hidden));
        }
        let mut trusted = TrustedFiles::default();
        for path in trusted_paths(workspace, &found) {
            let asked = trusted.add_path(workspace, &path);
            asked.pinned.into_iter().for_each(|folder| all.add(folder, ProtectionLevel::Pinned));
            asked.shut.into_iter().for_each(|place| all.add(place, ProtectionLevel::ReadOnly));
        }
        if let Some(program) = file_of(builder.helper).filter(|file| file.starts_with(workspace)) {
            all.add(program, ProtectionLevel::ReadOnly);
        }
        all.hide_own(builder.own)?;
        let is_cut_off = builder.setting.network == Network::Off && look == SurveyDepth::Through;
        let (mut outside, mut hides_sockets) = (Vec::new(), true);
        if is_cut_off {
            let inside = sockets::of_repositories(&found.named);
            inside.paths.into_iter().for_each(|socket| all.add(socket, ProtectionLevel::Hidden));
            let readable = sockets::outside(&builder.setting.readable);
            hides_sockets = found.unseen.is_empty() && inside.is_whole && readable.is_whole;
            outside = readable.paths;
        }
        let mut places = all.into_list();
        if look != SurveyDepth::Top {
            let shut = places.iter().filter(|place| place.how == ProtectionLevel::ReadOnly);
            let shut: Vec<PathBuf> = shut.map(|place| place.path.clone()).collect();
            trusted.record_hard_links(workspace, &shut);
        }
        let outside = outside.into_iter().filter(|path| !path.starts_with(workspace));
        places.extend(outside.map(|path| ProtectedPath { path, how: ProtectionLevel::Hidden }));
        Ok(Self { places, found, trusted, written: None, hides_sockets })
    }

    /// For a git that we start: everything is read-only, except the repository of a git that
    /// writes.
    pub(crate) fn for_git(workspace: &Path, repository: [&Path; 2], is_written: bool) -> Self {
        let place = |path: &Path, how| ProtectedPath { path: path.to_owned(), how };
        let mut places = vec![place(workspace, ProtectionLevel::ReadOnly)];
        for folder in repository {
            let shut = SHUT_IN_GIT.map(|name| folder.join(name));
            match is_written {
                true => {
                    places.push(place(folder, ProtectionLevel::Pinned));
                    let shut = shut.iter().filter(|path| exists_and_is_not_link(path));
                    places.extend(shut.map(|path| place(path, ProtectionLevel::ReadOnly)));
                }
                false if !folder.starts_with(workspace) => {
                    places.push(place(folder, ProtectionLevel::ReadOnly))
                }
                false => {}
            }
        }
        let written = repository.iter().filter(|_| is_written).map(|path| (*path).to_owned());
        let written = Some(written.collect());
        Self { places, written, hides_sockets: true, ..Self::default() }
    }
}

/// Collects the protected paths of a workspace.
struct ProtectedPaths<'w> {
    workspace: &'w Path,
    places: BTreeMap<PathBuf, ProtectionLevel>,
}

impl ProtectedPaths<'_> {
    /// Protects what a scan found: named repositories as a whole, the parts of bare ones that run
    /// programs, and folders that were not scanned.
    fn add_found(&mut self, found: &WorkspaceScan, git: GitAccess) -> Result<(), String> {
        let top = self.workspace.join(".git");
        let led = found.named.iter().chain(&found.links);
        let led: Vec<PathBuf> = led.flat_map(|path| git_dirs_in(path, self.workspace)).collect();
        for path in found.named.iter().chain(&led) {
            match git {
                GitAccess::Write if *path == top && path.is_dir() => self.write_git(path)?,
                _ => self.add(path.clone(), ProtectionLevel::ReadOnly),
            }
        }
        for folder in &found.bare {
            let parts = SHUT_IN_GIT.map(|name| folder.join(name));
            match folder != self.workspace && parts.iter().any(|part| part.is_symlink()) {
                true => self.add(folder.clone(), ProtectionLevel::ReadOnly),
                false => {
                    parts.into_iter().filter(|part| exists_and_is_not_link(part)).for_each(|part| {
                        self.add(part, ProtectionLevel::ReadOnly);
                    })
                }
            }
        }
        for folder in &found.unseen {
            self.add(folder.clone(), ProtectionLevel::ReadOnly);
        }
        Ok(())
    }

    /// A folder that is not a mount point could be moved away with the protected paths in it. So
    /// all folders between the workspace and the path are pinned.
    fn add(&mut self, path: PathBuf, how: ProtectionLevel) {
        if path == self.workspace && how == ProtectionLevel::Pinned {
            return;
        }
        let fits = |path: &&Path| {
            let inner = path.strip_prefix(self.workspace).unwrap_or(path);
            inner.iter().count() <= DEPTH_SHUT_MAX && inner.as_os_str().len() <= PATH_BYTES_MAX
        };
        if !fits(&path.as_path()) {
            // Each folder on the way would need a mount: protect an outer folder instead.
            let outer = path.ancestors().find(fits).unwrap_or(self.workspace).to_owned();
            return self.add(outer, how.max(ProtectionLevel::ReadOnly));
        }
        let within = |folder: &&Path| *folder != self.workspace && *folder != path;
        let between = path.ancestors().take_while(|folder| *folder != self.workspace);
        let between = between.filter(within).map(Path::to_owned).collect::<Vec<_>>();
        for folder in between {
            self.places.entry(folder).or_insert(ProtectionLevel::Pinned);
        }
        let known = self.places.entry(path).or_insert(how);
        *known = how.max(*known);
    }

    /// A repository that commands may write.
    fn write_git(&mut self, git: &Path) -> Result<(), String> {
        let common = git.join("commondir");
        if fs::symlink_metadata(&common).is_ok() {
            return Err(format!("{} leads git elsewhere", common.display()));
        }
        // What is missing cannot be shut, and an empty folder is what git itself makes.
        let _ = fs::create_dir(git.join("hooks"));
        self.add(git.to_owned(), ProtectionLevel::Pinned);
        for path in SHUT_IN_GIT.map(|name| git.join(name)) {
            if path.is_symlink() {
                return Err(format!("{} is a link, which nothing protects", path.display()));
            }
            if path.exists() {
                self.add(path, ProtectionLevel::ReadOnly);
            }
        }
        Ok(())
    }

    /// A missing file of ours could be created by a command, and nothing can hide it: an error.
    fn hide_own(&mut self, own: &[PathBuf]) -> Result<(), String> {
        let mut missing = Vec::new();
        for path in own {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            if let Some(link) = path.ancestors().find(|part| self.is_link_within(part)) {
                return Err(format!("{} is a link, which nothing protects", link.display()));
            }
            let place = real(&path);
            if !place.starts_with(self.workspace) || place == self.workspace {
                continue;
            }
            match place.exists() {
                true => self.add(place, ProtectionLevel::Hidden),
                false => missing.push(place),
            }
        }
        let is_hidden = |path: &&PathBuf| {
            path.ancestors().any(|outer| self.places.get(outer) == Some(&ProtectionLevel::Hidden))
        };
        match missing.iter().find(|path| !is_hidden(path)) {
            Some(path) => {
                let path = path.display();
                Err(format!("{path} belongs to everloop and is not there yet: nothing hides it"))
            }
            None => Ok(()),
        }
    }

    fn is_link_within(&self, path: &Path) -> bool {
        path.is_symlink()
            && path.parent().is_some_and(|folder| real(folder).starts_with(self.workspace))
    }

    /// Without those that an outer one covers.
    fn into_list(self) -> Vec<ProtectedPath> {
        let is_covered = |path: &Path, how: ProtectionLevel| {
            let mut outer = path.ancestors().skip(1).filter_map(|outer| self.places.get(outer));
            outer.any(|outer| {
                *outer == ProtectionLevel::Hidden
                    || *outer == ProtectionLevel::ReadOnly && how != ProtectionLevel::Hidden
            })
        };
        let open = self.places.iter().filter(|(path, how)| !is_covered(path, **how));
        open.map(|(path, how)| ProtectedPath { path: path.clone(), how: *how }).collect()
    }
}

/// Paths of a workspace that other programs trust: by name, as a home, or through git settings.
fn trusted_paths(workspace: &Path, found: &WorkspaceScan) -> Vec<PathBuf> {
    let mut all = names_at_top(workspace);
    let home = AccountHome::of_account();
    let home = home.iter().flat_map(|home| home.start_up_files(workspace));
    all.extend(home.filter(|path| !disarm::is_disarmed_link(path)));
    all.extend(user_trusted_files());
    let repositories = found.named.iter().chain(&found.links).chain(&found.bare);
    let git = repositories.filter(|path| {
        let name = path.file_name().unwrap_or_default();
        !VERSION_CONTROL[1..].iter().any(|other| name.eq_ignore_ascii_case(other))
    });
    all.extend(git.flat_map(|path| configured_paths(path)));
    // The workspace may be a part of a repository.
    let outer = workspace.ancestors().skip(1).map(|folder| folder.join(".git"));
    all.extend(outer.filter(|path| path.exists()).flat_map(|path| configured_paths(&path)));
    all
}

/// A protected name at the top that is a link. A mount cannot pin a link, so a command could
/// replace it.
fn link_at_top(workspace: &Path) -> Option<PathBuf> {
    let names = [".agents"].into_iter().chain(START_UP).chain(VERSION_CONTROL);
    names.map(|name| workspace.join(name)).find(|path| path.is_symlink())
}

/// Whether there is a file or folder that is not a link. The target of a link is protected by its
/// own path, or is outside.
fn exists_and_is_not_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink())
}

/// The places of the system that can be read, one by one where a part is not for everybody.
pub(crate) fn system() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    open_in(Path::new(SETTINGS), DEPTH_MAX, &mut places);
    places
}

/// Files and folders of the system's settings that not everybody may read.
pub(crate) fn private() -> Vec<PathBuf> {
    let mut places = Vec::new();
    private_in(Path::new(SETTINGS), DEPTH_MAX, &mut places);
    places
}

fn private_in(folder: &Path, depth: usize, places: &mut Vec<PathBuf>) {
    for (path, is_folder, is_private) in entries(folder) {
        // What lies deeper is not looked into, and so not shown.
        if is_private || is_folder && depth == 0 {
            places.push(path);
        } else if is_folder {
            private_in(&path, depth - 1, places);
        }
    }
}

fn open_in(folder: &Path, depth: usize, places: &mut Vec<PathBuf>) {
    for (path, is_folder, is_private) in entries(folder) {
        let mut within = Vec::new();
        if is_folder && depth > 0 {
            private_in(&path, depth - 1, &mut within);
        }
        match (is_private || is_folder && depth == 0, within.is_empty()) {
            (true, _) => {}
            (false, true) => places.push(path),
            (false, false) => open_in(&path, depth - 1, places),
        }
    }
}

/// What is in a folder: its path, whether it is a folder, and whether it is not for everybody.
/// Links are skipped: their targets have paths of their own.
fn entries(folder: &Path) -> Vec<(PathBuf, bool, bool)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let known = entries.flatten().filter_map(|entry| {
        let found = entry.metadata().ok()?;
        let readable = if found.is_dir() { 0o005 } else { 0o004 };
        let is_private = found.permissions().mode() & readable != readable;
        (!found.is_symlink()).then(|| (entry.path(), found.is_dir(), is_private))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SandboxSetting;

    fn survey(
        workspace: &Path,
        own: &[&str],
        git: GitAccess,
    ) -> Result<Vec<ProtectedPath>, String> {
        let own: Vec<PathBuf> = own.iter().map(|name| workspace.join(name)).collect();
        let setting = SandboxSetting { git, ..SandboxSetting::default() };
        let helper = Path::new("/bin/true");
        Survey::of(
            &SandboxBuilder { setting: &setting, workspace, own: &own, helper },
            SurveyDepth::Through,
        )
        .map(|survey| survey.places)
    }

    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let outer = tempfile::TempDir::new().unwrap();
        let workspace = outer.path().canonicalize().unwrap().join("workspace");
        fs::create_dir(&workspace).unwrap();
        (outer, workspace)
    }

    fn expected(workspace: &Path, places: &[(&str, ProtectionLevel)]) -> Vec<ProtectedPath> {
        let place = |(name, how): &(&str, ProtectionLevel)| ProtectedPath {
            path: workspace.join(name),
            how: *how,
        };
        places.iter().map(place).collect()
    }

    #[test]
    fn own_files_are_hidden_once_and_only_within_the_workspace() {
        let (_outer, workspace) = workspace();
        fs::create_dir_all(workspace.join("a/data/effects")).unwrap();
        fs::write(workspace.join("../elsewhere"), "").unwrap();
        fs::write(workspace.join("key"), "").unwrap();
        let own = ["a/data/effects", "a/data", "key", "../elsewhere", "a/data/missing", "."];
        let found = survey(&workspace, &own, GitAccess::Read).unwrap();
        let places = [
            ("a", ProtectionLevel::Pinned),
            ("a/data", ProtectionLevel::Hidden),
            ("key", ProtectionLevel::Hidden),
        ];
        assert_eq!(found, expected(&workspace, &places));
    }

    #[test]
    fn what_is_ours_and_missing_or_a_link_is_leaves_no_sandbox() {
        let (_outer, workspace) = workspace();
        let missing = survey(&workspace, &["a/config.toml"], GitAccess::Read).unwrap_err();
        assert!(missing.contains("a/config.toml belongs to everloop"), "{missing}");
        fs::create_dir(workspace.join("real")).unwrap();
        std::os::unix::fs::symlink("real", workspace.join("a")).unwrap();
        let link = survey(&workspace, &["a"], GitAccess::Read).unwrap_err();
        assert!(link.contains("a is a link"), "{link}");
    }

    #[test]
    fn a_repository_is_shut_as_a_whole_unless_commands_may_write_the_one_at_the_top() {
        let (_outer, workspace) = workspace();
        for folder in [".git", "a/b/.git", ".hg", ".vscode"] {
            fs::create_dir_all(workspace.join(folder)).unwrap();
        }
        fs::write(workspace.join(".git/config"), "").unwrap();
        let nested = [
            (".hg", ProtectionLevel::ReadOnly),
            (".vscode", ProtectionLevel::ReadOnly),
            ("a", ProtectionLevel::Pinned),
            ("a/b", ProtectionLevel::Pinned),
            ("a/b/.git", ProtectionLevel::ReadOnly),
        ];
        let found = survey(&workspace, &[], GitAccess::Read).unwrap();
        let read = [&[(".git", ProtectionLevel::ReadOnly)], &nested[..]].concat();
        assert_eq!(found, expected(&workspace, &read));
        let found = survey(&workspace, &[], GitAccess::Write).unwrap();
        let shut = [
            (".git", ProtectionLevel::Pinned),
            (".git/config", ProtectionLevel::ReadOnly),
            (".git/hooks", ProtectionLevel::ReadOnly),
        ];
        assert_eq!(found, expected(&workspace, &[&shut[..], &nested[..]].concat()));
        fs::write(workspace.join(".git/commondir"), "../x").unwrap();
        let led = survey(&workspace, &[], GitAccess::Write).unwrap_err();
        assert!(led.contains("leads git elsewhere"), "{led}");
    }

    #[test]
    fn what_not_everybody_may_read_is_told_from_the_rest() {
        let outer = tempfile::TempDir::new().unwrap();
        let folder = outer.path();
        fs::create_dir_all(folder.join("shown/deep")).unwrap();
        fs::create_dir(folder.join("open")).unwrap();
        for (name, mode) in [("shown/deep/key", 0o640), ("shown/list", 0o644), ("open/a", 0o644)] {
            fs::write(folder.join(name), "").unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        for name in ["shown", "shown/deep", "open"] {
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (mut closed, mut open) = (Vec::new(), Vec::new());
        private_in(folder, 3, &mut closed);
        open_in(folder, 3, &mut open);
        open.sort();
        assert_eq!(closed, [folder.join("shown/deep/key")]);
        // What lies too deep to be looked into is not shown at all.
        let (mut closed, mut shown) = (Vec::new(), Vec::new());
        private_in(folder, 1, &mut closed);
        open_in(folder, 1, &mut shown);
        assert_eq!(closed, [folder.join("shown/deep")]);
        assert!(!shown.iter().any(|path| path.starts_with(folder.join("shown/deep"))), "{shown:?}");
        assert_eq!(open, [folder.join("open"), folder.join("shown/list")]);
    }
}
