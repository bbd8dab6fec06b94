const names =
  /^(\.env(\..+)?|\.npmrc|\.netrc|_netrc|\.pypirc|\.pgpass|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)|.+\.(pem|key|p12|pfx|kdbx|keystore|jks))$/i;
const directories = /^(\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker)$/i;

/** Reports whether a file usually contains credentials. The server has its own, longer list. */
export function isSecret(path: string): boolean {
  const parts = path.split(/[\\/]/);
  const name = parts.pop() ?? '';
  return (names.test(name) && !/\.(example|sample|template)$/i.test(name)) || parts.some((p) => directories.test(p));
}
