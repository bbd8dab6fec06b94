# Run "make" for the list of targets. Each is one or two commands that can also be
# pasted into a shell; scripts/test.sh runs the checks without make.

include scripts/versions.env

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
GO_FILES = $(shell git ls-files --cached --others --exclude-standard '*.go')
T ?= 30s
BENCH ?= .
COUNT ?= 10
NVIM ?= nvim

.DEFAULT_GOAL := help
.PHONY: help all build gen check-gen fmt lint lint-lua test race poison fuzz bench bench-peers soak benchcmp cover \
	golden nvim-test pictures vsix vet-cross check-deps vuln demo e2e ci release-snapshot reproducible

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

all: gen fmt lint test ## generate, format, lint, test

build: ## build bin/xcsh-ls
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/xcsh-ls ./cmd/xcsh-ls

gen: ## write what is derived from the command table
	go run ./commands/gen

check-gen: ## fail when a generated file is stale
	go run ./commands/gen -check

fmt: ## format Go (gofumpt, goimports) and Lua (stylua)
	go run mvdan.cc/gofumpt@$(GOFUMPT_VERSION) -w $(GO_FILES)
	go run golang.org/x/tools/cmd/goimports@$(GOIMPORTS_VERSION) -local github.com/xcsh-ls/xcsh-ls -w $(GO_FILES)
	scripts/stylua.sh

lint: ## run golangci-lint
	$(GOLANGCI_LINT) run ./...

lint-lua: ## run stylua --check and luacheck (Debian package lua-check)
	scripts/stylua.sh --check
	cd editors/neovim && luacheck .

test: ## run the Go tests
	go test ./...

race: ## run the Go tests under the race detector
	go test -race ./...

poison: ## run the lsp tests with recycled requests overwritten
	go test -tags jsonrpc2poison ./lsp/...

fuzz: ## run every fuzz target for T (default 30s)
	scripts/fuzz.sh $(T)

bench: ## run the benchmarks matching BENCH into bench/new.txt
	@mkdir -p bench
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./bench/... ./session/... | tee bench/new.txt

bench-peers: ## compare whole processes with pi and omp, which are fetched from npm
	bench/peers/install.sh
	go run ./bench/process

soak: ## kill writers and let them compete, 500 rounds
	XCSH_SOAK=1 go test -count=1 -timeout 60m ./bench/soak

benchcmp: ## compare bench/new.txt with bench/base.txt
	go run golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION) bench/base.txt bench/new.txt

cover: ## measure test coverage over all packages
	go test -coverpkg=./... -coverprofile=coverage.out ./...
	go tool cover -func=coverage.out | tail -n 1

golden: ## rewrite the golden files and show what changed
	go test $$(git grep -lE 'flag\.Bool\("update"|/lsptest"' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|') -update
	git diff --stat -- '*testdata*'

nvim-test: build ## run the Neovim plugin's tests in NVIM (default nvim)
	editors/neovim/tests/run.sh "$(NVIM)" "$(CURDIR)/bin/xcsh-ls"

pictures: build ## make the pictures in docs/images again (needs Chromium, tmux, pngquant and NVIM)
	editors/vscode/test/e2e/run.sh --pictures
	editors/neovim/tests/screen/picture.sh "$(NVIM)" "$(CURDIR)/bin/xcsh-ls"

vsix: ## package the VS Code extension for every platform into dist/
	scripts/vsix.sh

release-snapshot: ## make all of a release but its image into dist/release
	scripts/release-snapshot.sh

reproducible: ## fail when two builds are not the same bytes
	scripts/reproducible.sh

vet-cross: ## vet for Windows and macOS
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...

check-deps: ## fail when the protocol libraries are not the pinned versions
	scripts/check-deps.sh

vuln: ## look for known vulnerabilities in what is called
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) ./...

demo: ## list, resume, fork, export and dump real sessions with the real server
	go run ./scripts/demo

e2e: nvim-test ## run the built server in its real clients
	go test -count=1 ./cmd/... ./lsp/...

ci: ## run what continuous integration runs
	scripts/test.sh
