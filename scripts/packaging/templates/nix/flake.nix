{
  description = "<% .Description %>";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      version = "<% .Version %>";
      # The programs of the release; they are static, so nothing needs to be patched.
      archives = {
<%- range .Platforms "x86_64-linux" "linux" "amd64" "aarch64-linux" "linux" "arm64" "x86_64-darwin" "darwin" "amd64" "aarch64-darwin" "darwin" "arm64" %>
        <% .Key %> = {
          url = "<% .URLPattern "${version}" %>";
          hash = "<% .SRI %>";
        };
<%- end %>
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
              description = "<% .Description %>";
              homepage = "<% .Homepage %>";
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
