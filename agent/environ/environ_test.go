package environ_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/environ"
)

func TestKeepPassesToolsTheirVariables(t *testing.T) {
	t.Parallel()
	env := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "GOPROXY=https://proxy.golang.org,direct", "Path=C:\\x", "http_proxy=http://proxy:8080",
		"GIT_AUTHOR_EMAIL=a@b.example", "NODE_PATH=/a/@scope/x:/b/@scope/y", "MAVEN_OPTS=-Xmx1g -Dx.tokens", "JAVA_HOME=/opt/jdk@21:x",
	}
	require.Equal(t, env, environ.Keep(env))
}

func TestKeepDropsSecrets(t *testing.T) {
	t.Parallel()
	for _, v := range []string{
		"GITHUB_TOKEN=x", "GH_TOKEN=x", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x", "AWS_PROFILE=prod", "SSH_AUTH_SOCK=/tmp/s",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1/bus", "DATABASE_URL=postgres://u:p@h/db", "NPM_TOKEN=x", "KUBECONFIG=/k", "DOCKER_HOST=unix:///x",
		"GPG_AGENT_INFO=x", "VAULT_TOKEN=x", "OPENAI_API_KEY=x", "STRIPE_KEY=x", "MY_PASSWORD=x", "ANYTHING=x", "", "=C:=x",
		"HTTPS_PROXY=http://user:password@proxy:8080", "GOPROXY=direct,https://user:password@proxy", "PIP_INDEX_URL=https://token@index",
		"HTTP_PROXY=user:password@proxy:8080", "GRADLE_OPTS=-Xmx1g -Dhttps.proxyPassword=x", "JAVA_TOOL_OPTIONS=-Djavax.net.ssl.keyStorePassword=x",
		"PIP_INDEX_URL=https://index/simple?token=x", "NODE_OPTIONS=--require=x --secret=y",
		"XDG_RUNTIME_DIR=/run/user/1", "LC_TOKEN=x", "npm_config__authToken=x",
	} {
		require.Empty(t, environ.Keep([]string{v}), v)
	}
}

func TestKeepPassesNamedVariables(t *testing.T) {
	t.Parallel()
	env := []string{"GITHUB_TOKEN=x", "HTTPS_PROXY=http://user:password@proxy", "OTHER=y"}
	require.Equal(t, env[:2], environ.Keep(env, "GITHUB_TOKEN", "HTTPS_PROXY"))
}
