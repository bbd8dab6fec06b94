//! Starts xcsh-ls: the program in the settings, the one in `PATH`, or else the release of the extension's version.

use std::fs;

use zed_extension_api::{
    self as zed, serde_json::Value, settings::LspSettings, Architecture, DownloadedFileType,
    LanguageServerId, LanguageServerInstallationStatus, Os, Result,
};

/// The extension has the version of the server that it downloads.
const VERSION: &str = env!("CARGO_PKG_VERSION");

struct Xcsh;

/// Returns the name of a release's archive, its type, and the program in it.
fn archive(
    os: Os,
    architecture: Architecture,
) -> Result<(String, DownloadedFileType, &'static str)> {
    let archive = match (os, architecture) {
<%- range .Platforms "(Os::Linux, Architecture::X8664)" "linux" "amd64" "(Os::Linux, Architecture::Aarch64)" "linux" "arm64" "(Os::Mac, Architecture::X8664)" "darwin" "amd64" "(Os::Mac, Architecture::Aarch64)" "darwin" "arm64" "(Os::Windows, Architecture::X8664)" "windows" "amd64" "(Os::Windows, Architecture::Aarch64)" "windows" "arm64" %>
        <% .Key %> => (
            format!("<% .Pattern "{VERSION}" %>"),
            DownloadedFileType::<% if eq .Format "zip" %>Zip<% else %>GzipTar<% end %>,
            "<% .Program %>",
        ),
<%- end %>
        _ => {
            return Err(format!(
                "There is no xcsh-ls {VERSION} for this platform. Build it from source and add it to PATH."
            ))
        }
    };
    Ok(archive)
}

/// Downloads the server unless an earlier call did, and returns its path in the extension's directory.
fn download(id: &LanguageServerId) -> Result<String> {
    let (os, architecture) = zed::current_platform();
    let (name, kind, program) = archive(os, architecture)?;
    let directory = format!("xcsh-ls-{VERSION}");
    let path = format!("{directory}/{program}");
    if fs::metadata(&path).is_ok_and(|found| found.is_file()) {
        return Ok(path);
    }
    zed::set_language_server_installation_status(
        id,
        &LanguageServerInstallationStatus::Downloading,
    );
    let url = format!("<% .Homepage %>/releases/download/v{VERSION}/{name}");
    zed::download_file(&url, &directory, kind)
        .map_err(|err| format!("Couldn't download {url}: {err}"))?;
    zed::make_file_executable(&path)?;
    remove_others(&directory);
    Ok(path)
}

/// Removes earlier versions. One that cannot be removed only takes space.
fn remove_others(directory: &str) {
    for entry in fs::read_dir(".").into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("xcsh-ls-") && name != directory {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

impl zed::Extension for Xcsh {
    fn new() -> Self {
        Xcsh
    }

    fn language_server_command(
        &mut self,
        id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree)
            .ok()
            .and_then(|settings| settings.binary);
        let (path, arguments, env) = match binary {
            Some(binary) => (binary.path, binary.arguments, binary.env),
            None => (None, None, None),
        };
        let command = match path.or_else(|| worktree.which("xcsh-ls")) {
            Some(path) => path,
            None => download(id)?,
        };
        let mut environment = worktree.shell_env(); // has the user's API keys
        environment.extend(env.into_iter().flatten());
        Ok(zed::Command {
            command,
            args: arguments.unwrap_or_else(|| vec!["--stdio".into()]),
            env: environment,
        })
    }

    fn language_server_initialization_options(
        &mut self,
        id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.settings)
    }
}

zed::register_extension!(Xcsh);
