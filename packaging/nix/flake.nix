{
  description = "Conversations of terminal coding agents, in every editor";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      version = "0.1.0";
      # The programs of the release; they are static, so nothing needs to be patched.
      archives = {
        x86_64-linux = {
          url = "https://github.com/xcsh-ls/xcsh-ls/releases/download/v${version}/xcsh-ls_${version}_linux_amd64.tar.gz";
          hash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        };
        aarch64-linux = {
          url = "https://github.com/xcsh-ls/xcsh-ls/releases/download/v${version}/xcsh-ls_${version}_linux_arm64.tar.gz";
          hash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        };
        x86_64-darwin = {
          url = "https://github.com/xcsh-ls/xcsh-ls/releases/download/v${version}/xcsh-ls_${version}_darwin_amd64.tar.gz";
          hash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        };
        aarch64-darwin = {
          url = "https://github.com/xcsh-ls/xcsh-ls/releases/download/v${version}/xcsh-ls_${version}_darwin_arm64.tar.gz";
          hash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        };
      };
    in
    {
      packages = builtins.mapAttrs (
        system: archive:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        rec {
          default = xcsh-ls;
          xcsh-ls = pkgs.stdenvNoCC.mkDerivation {
            pname = "xcsh-ls";
            inherit version;
            src = pkgs.fetchurl archive;
            sourceRoot = ".";
            nativeBuildInputs = [ pkgs.installShellFiles ];
            dontStrip = true; # the signature of a program for macOS would become invalid
            installPhase = ''
              runHook preInstall
              install -Dm755 xcsh-ls -t $out/bin
              install -Dm644 LICENSE THIRD_PARTY_NOTICES.txt -t $out/share/doc/xcsh-ls
              installManPage man/*.1
              installShellCompletion --cmd xcsh-ls --bash completions/xcsh-ls \
                --zsh completions/_xcsh-ls --fish completions/xcsh-ls.fish
              runHook postInstall
            '';
            meta = {
              description = "Conversations of terminal coding agents, in every editor";
              homepage = "https://github.com/xcsh-ls/xcsh-ls";
              license = pkgs.lib.licenses.mit;
              mainProgram = "xcsh-ls";
              platforms = builtins.attrNames archives;
              sourceProvenance = [ pkgs.lib.sourceTypes.binaryNativeCode ];
            };
          };
        }
      ) archives;
    };
}
