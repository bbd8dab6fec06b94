package sensitive

// credentials are files and directories below the home directory that hold keys and tokens.
var credentials = []string{
	// Keys of the user.
	".ssh", ".gnupg", ".age", ".config/age", ".config/sops/age", ".password-store", ".vault-token",
	"AppData/Roaming/gnupg",
	// Cloud accounts.
	".aws", ".azure", ".config/gcloud", ".boto", ".s3cfg", ".oci", ".aliyun", ".bluemix", ".config/doctl",
	".config/hcloud", ".config/flyctl", ".fly", ".config/heroku", ".config/rclone", ".rclone.conf", ".config/scw",
	".config/linode-cli", ".config/vercel", ".local/share/com.vercel.cli", ".config/netlify", ".config/configstore",
	".wrangler", ".config/.wrangler", ".kube", ".docker", ".config/containers/auth.json", ".config/helm/registry",
	".terraform.d/credentials.tfrc.json", ".terraformrc", ".pulumi/credentials.json", ".ansible/galaxy_token",
	"AppData/Roaming/gcloud", "AppData/Roaming/terraform.rc",
	// Hosts of code and packages.
	".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub",
	".config/glab-cli", ".config/tea", ".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml",
	".gem/credentials", ".local/share/gem/credentials", ".config/composer/auth.json", ".composer/auth.json",
	".m2/settings-security.xml", ".subversion/auth", ".config/hf", ".cache/huggingface/token",
	".huggingface/token", ".kaggle", ".config/github-copilot", "AppData/Roaming/GitHub CLI",
	"AppData/Local/github-copilot",
	// Databases.
	".pgpass", ".my.cnf", ".mylogin.cnf", ".dbshell", "AppData/Roaming/postgresql/pgpass.conf",
	// Coding agents.
	".claude.json", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json",
	".local/share/opencode/auth.json", ".config/goose/secrets.yaml", ".local/share/crush/crush.json",
	// Wallets.
	".bitcoin", ".ethereum", ".electrum", ".config/solana/id.json",
}

// browsers are profiles with cookies and passwords, of mail programs too.
var browsers = []string{
	".mozilla", ".librewolf", ".thunderbird", ".config/google-chrome", ".config/google-chrome-beta",
	".config/google-chrome-unstable", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".config/microsoft-edge-beta", ".config/microsoft-edge-dev", ".config/vivaldi", ".config/opera", ".config/mozilla",
	"snap/firefox", "snap/chromium", "snap/brave", "snap/thunderbird", "snap/opera",
	".var/app/org.mozilla.firefox", ".var/app/org.mozilla.Thunderbird", ".var/app/com.google.Chrome",
	".var/app/org.chromium.Chromium", ".var/app/com.brave.Browser", ".var/app/com.microsoft.Edge",
	".var/app/io.gitlab.librewolf-community", ".var/app/com.vivaldi.Vivaldi",
	"Library/Application Support/Google/Chrome", "Library/Application Support/Google/Chrome Beta",
	"Library/Application Support/Google/Chrome Canary", "Library/Application Support/Chromium",
	"Library/Application Support/BraveSoftware", "Library/Application Support/Microsoft Edge",
	"Library/Application Support/Firefox", "Library/Application Support/Arc",
	"Library/Application Support/Vivaldi", "Library/Application Support/com.operasoftware.Opera",
	"Library/Thunderbird", "Library/Safari", "Library/Cookies", "Library/HTTPStorages",
	"Library/Containers/com.apple.Safari", "Library/Group Containers/group.com.apple.notes",
	"Library/Messages", "Library/Mail",
	"AppData/Local/Google/Chrome/User Data", "AppData/Local/Google/Chrome Beta/User Data",
	"AppData/Local/Chromium/User Data", "AppData/Local/BraveSoftware", "AppData/Local/Microsoft/Edge/User Data",
	"AppData/Local/Vivaldi/User Data", "AppData/Roaming/Opera Software", "AppData/Roaming/Mozilla",
	"AppData/Roaming/Thunderbird",
}

// keyrings are the files of desktop systems and password managers.
var keyrings = []string{
	"Library/Keychains", "Library/Application Support/com.apple.TCC", "Library/Application Support/1Password",
	"Library/Group Containers/2BUA8C4S2C.com.1password", "Library/Application Support/Bitwarden",
	".local/share/keyrings", ".gnome2/keyrings", ".local/share/kwalletd", ".kde/share/apps/kwallet",
	".kde4/share/apps/kwallet", ".config/op", ".config/1Password", ".config/Bitwarden", ".config/Bitwarden CLI",
	".config/keepassxc", ".local/share/bitwarden-cli", ".pki",
	"AppData/Local/Microsoft/Credentials", "AppData/Roaming/Microsoft/Credentials", "AppData/Local/Microsoft/Vault",
	"AppData/Roaming/Microsoft/Protect", "AppData/Roaming/Microsoft/Crypto", "AppData/Local/1Password",
	"AppData/Roaming/Bitwarden",
}

// histories are files with the user's input, passwords among it.
var histories = []string{
	".bash_history", ".bash_sessions", ".zsh_history", ".zhistory", ".zsh_sessions", ".histfile", ".sh_history",
	".ksh_history", ".history", ".tcsh_history", ".local/share/fish/fish_history", ".config/fish/fish_history",
	".config/nushell/history.txt", ".config/nushell/history.sqlite3", ".local/share/atuin", ".python_history",
	".node_repl_history", ".irb_history", ".psql_history", ".mysql_history", ".sqlite_history",
	".rediscli_history", ".mongosh", ".lesshst", ".local/share/powershell/PSReadLine",
	"AppData/Roaming/Microsoft/Windows/PowerShell/PSReadLine",
}

// system are those of the machine.
var system = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/master.passwd", "/etc/spwd.db", "/etc/security/opasswd", "/etc/krb5.keytab", "/etc/ssl/private",
	"/etc/pki/tls/private", "/etc/ssh/ssh_host_dsa_key", "/etc/ssh/ssh_host_rsa_key",
	"/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key", "/etc/wireguard", "/etc/openvpn",
	"/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/ppp/chap-secrets",
	"/etc/ppp/pap-secrets", "/etc/kubernetes", "/etc/rancher", "/etc/docker/key.json", "/etc/letsencrypt",
	"/var/lib/kubelet", "/run/secrets", "/var/run/secrets", "/Library/Keychains",
	"/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/sudoers.d",
	"/private/var/db/dslocal/nodes/Default/users", "/var/db/dslocal/nodes/Default/users",
}

// agentFiles are the files of an agent directory that hold keys, or that determine where keys are
// sent.
var agentFiles = []string{
	"auth.json", "agent.db", "agent.db-wal", "agent.db-shm", "agent.db-journal",
	"models.json", "models.yml", "models.yaml",
}

// agentPrefixes begin the names of copies of these files: backups, locks, temporary files.
var agentPrefixes = []string{"auth.json", "agent.db", "models.json", "models.yml", "models.yaml"}

// variables name a credential file or directory, or a list of them.
var variables = []string{
	"GNUPGHOME", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AZURE_CONFIG_DIR",
	"CLOUDSDK_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "BOTO_CONFIG", "OCI_CLI_CONFIG_FILE", "KUBECONFIG",
	"DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "GH_CONFIG_DIR", "NETRC", "CURLOPT_NETRC_FILE", "NPM_CONFIG_USERCONFIG",
	"PASSWORD_STORE_DIR", "SOPS_AGE_KEY_FILE", "HISTFILE", "PYTHON_HISTORY", "NODE_REPL_HISTORY", "PSQL_HISTORY",
	"MYSQL_HISTFILE", "SQLITE_HISTORY", "LESSHISTFILE", "PGPASSFILE", "HF_TOKEN_PATH", "KAGGLE_CONFIG_DIR",
	"RCLONE_CONFIG", "TF_CLI_CONFIG_FILE", "XAUTHORITY",
}

// bases name a directory in which only some files are credentials.
var bases = map[string][]string{
	"CARGO_HOME":    {"credentials", "credentials.toml"},
	"HF_HOME":       {"token"},
	"CODEX_HOME":    {"auth.json"},
	"COMPOSER_HOME": {"auth.json"},
}

// buildFiles may hold passwords and are read by build tools at each start.
var buildFiles = []string{
	".m2/settings.xml", ".gradle/gradle.properties", ".yarnrc.yml", ".config/pip/pip.conf", ".pip/pip.conf",
	".config/NuGet/NuGet.Config", ".nuget/NuGet/NuGet.Config", "AppData/Roaming/NuGet/NuGet.Config",
	"AppData/Roaming/pip/pip.ini", ".config/pypoetry/auth.toml", ".bundle/config", ".condarc",
}

// devices give access to memory of the machine or to messages of its kernel.
var devices = []string{"/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/nvram"}
