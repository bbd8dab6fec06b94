# Run "make" for the list of targets. Each is one or two commands that also work in
# a shell; scripts/test.sh runs the checks without make.

include scripts/versions.env

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
GO_FILES = $(shell git ls-files --cached --others --exclude-standard '*.go')
T ?= 30s
ONLY ?=
SEED ?=
BENCH ?= .
COUNT ?= 10
NVIM ?= nvim
MDBOOK ?= mdbook

.DEFAULT_GOAL := help
.PHONY: help all quick build gen check-gen check-fmt check-coverage coverage fmt lint words lint-lua test race poison test-wine fuzz fuzz-sample bench bench-wire bench-hosted bench-peers soak benchcmp cover \
	mutants mutants-sample golden nvim-test pictures site vsix vet-cross check-deps vuln demo e2e ci release release-snapshot release-checks test-artefacts lint-workflows reproducible

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

all: gen fmt lint test ## generate, format, lint, test

quick: check-fmt check-gen words ## formatting, generated files, English, vet and the fast Go tests
	go vet ./...
	go test -short $$(go list ./... | grep -vE '/(attack|bench|cmd)(/|$$)')

build: ## build bin/xcsh-ls
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/xcsh-ls ./cmd/xcsh-ls

gen: ## write the files that are generated from the command table, the third-party notices, and packaging/
	go run ./commands/gen
	go run ./scripts/notices
	go run ./scripts/packaging

check-gen: ## fail if a generated file is stale
	go run ./commands/gen -check
	go run ./scripts/notices -check
	go run ./scripts/packaging -check

check-fmt: ## fail if a Go file is not formatted
	@unformatted=$$(go run mvdan.cc/gofumpt@$(GOFUMPT_VERSION) -l $(GO_FILES); \
		go run golang.org/x/tools/cmd/goimports@$(GOIMPORTS_VERSION) -local github.com/xcsh-ls/xcsh-ls -l $(GO_FILES)); \
		if [ -n "$$unformatted" ]; then echo "run make fmt; not formatted:"; echo "$$unformatted"; exit 1; fi

fmt: ## format Go (gofumpt, goimports) and Lua (stylua)
	go run mvdan.cc/gofumpt@$(GOFUMPT_VERSION) -w $(GO_FILES)
	go run golang.org/x/tools/cmd/goimports@$(GOIMPORTS_VERSION) -local github.com/xcsh-ls/xcsh-ls -w $(GO_FILES)
	scripts/stylua.sh

lint: words ## run golangci-lint and check the English
	$(GOLANGCI_LINT) run ./...

words: ## check the English of comments, texts and documentation
	go run ./scripts/words

lint-lua: ## run stylua --check and luacheck (Debian package lua-check)
	scripts/stylua.sh --check
	cd editors/neovim && luacheck .

test: ## run the Go tests
	go test ./...

race: ## run the Go tests under the race detector
	go test -race ./...

poison: ## run the lsp tests with recycled requests overwritten
	go test -tags jsonrpc2poison ./lsp/...

test-wine: ## run the Windows program and the tests of packages that depend on the system in Wine (Debian)
	scripts/wine.sh

fuzz-sample: ## run fuzz targets for two minutes, in the order of SEED (default: the date)
	SEED='$(SEED)' scripts/fuzz.sh --total 120

fuzz: ## run every fuzz target for T (default 30s)
	scripts/fuzz.sh $(T)

bench: ## run the benchmarks matching BENCH into bench/new.txt
	@mkdir -p bench
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./bench/... ./session/... | tee bench/new.txt

bench-wire: ## measure the user's commands over the wire into bench/README.md; takes about an hour
	go run ./bench/wire -write bench/README.md

bench-hosted: ## measure pi through the server against pi alone into bench/README.md
	bench/peers/install.sh pi
	go run ./bench/hosted -write bench/README.md

bench-peers: ## compare whole processes with pi and omp, which are fetched from npm
	bench/peers/install.sh
	go run ./bench/process

soak: ## kill writers and let them compete, 500 rounds
	XCSH_SOAK=1 go test -count=1 -timeout 90m ./bench/soak ./commands/equal

benchcmp: ## compare bench/new.txt with bench/base.txt
	go run golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION) bench/base.txt bench/new.txt

mutants: ## run the tests against small bugs, all or those that contain ONLY; a bug that no test notices fails
	go run ./scripts/mutants -only '$(ONLY)'

mutants-sample: ## the same for two minutes, in the order of SEED (default: the date)
	go run ./scripts/mutants -budget 2m -seed '$(SEED)'

check-coverage: ## fail if docs/coverage.md is stale
	go run ./scripts/coverage -check

coverage: ## write docs/coverage.md from the annotations in tests
	go run ./scripts/coverage

cover: ## measure test coverage over all packages
	go test -coverpkg=./... -coverprofile=coverage.out ./...
	go tool cover -func=coverage.out | tail -n 1

golden: ## rewrite the golden files and show what changed
	go test $$(git grep -lE 'flag\.Bool\("update"|/lsptest"' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|') -update
	git diff --stat -- '*testdata*'

nvim-test: build ## run the Neovim plugin's tests in NVIM (default nvim)
	editors/neovim/tests/run.sh "$(NVIM)" "$(CURDIR)/bin/xcsh-ls"

pictures: build ## recreate the images in docs/images (needs Chromium, tmux, pngquant and NVIM)
	editors/vscode/test/e2e/run.sh --pictures
	editors/neovim/tests/screen/picture.sh "$(NVIM)" "$(CURDIR)/bin/xcsh-ls"

site: ## build the documentation site in dist/site with MDBOOK (default mdbook, Debian's package)
	go run ./scripts/site -mdbook "$(MDBOOK)"

vsix: ## package the VS Code extension for every platform into dist/
	scripts/vsix.sh

release-snapshot: ## build a release, except its container image, in dist/release
	scripts/release-snapshot.sh

test-artefacts: ## test the files that vsix and release-snapshot built (needs dpkg and rpm)
	go test -count=1 -tags artefacts ./scripts/artefacts

release-checks: ## build a release, test its files and check the packages with lintian and rpmlint
	scripts/release-checks.sh

release: ## publish the release of the current tag, as a draft (needs Docker and GITHUB_TOKEN)
	go run github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION) release --clean

reproducible: ## fail if two builds differ
	scripts/reproducible.sh

vet-cross: ## vet for Windows and macOS
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...

check-deps: ## fail if the protocol libraries are not the pinned versions
	scripts/check-deps.sh

vuln: ## search the called functions for known vulnerabilities, also those of this Go
	go run ./scripts/vulns -strict

lint-workflows: ## check the workflows of continuous integration
	go run github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)

demo: ## list, resume, fork, export and dump real sessions with the real server
	go run ./scripts/demo

e2e: nvim-test ## run the built server in its real clients
	go test -count=1 ./cmd/... ./lsp/...

ci: ## run what continuous integration runs
	scripts/test.sh
