# lifed: build, install, test. "make help" lists the targets.

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=
SWIFT ?= swift
BUILD ?= release
# The Swift toolchain contains a C compiler.
ifeq ($(origin CC),default)
CC := $(shell command -v cc || echo clang)
endif
# Swift's package manager would compile the C targets with it; they need clang.
unexport CC

bindir = $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
docdir = $(PREFIX)/share/doc/lifed
confdir = $(SYSCONFDIR)/lifed
products = .build/$(BUILD)
# Each app without a control group has a keeper of its own, so the C library must be small: with musl it takes 12 kB, not 700.
KEEPER_CC ?= $(shell command -v musl-gcc || echo $(CC))
library = .build/liblifecycle
sources = $(wildcard Sources Tests Examples) Package.swift


.PHONY: all toolchain build samples deps demo test test-matrix test-machine simulate explore soak bench docs fuzz mutate sanitize coverage pictures format lint install uninstall deb dist clean help
all: build

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14

toolchain:
	@command -v $(firstword $(SWIFT)) >/dev/null || { echo "cannot build lifed: no Swift toolchain; install one from https://swift.org/install" >&2; exit 1; }
	@$(SWIFT) --version >/dev/null 2>&1 || { $(SWIFT) --version; echo "cannot build lifed: this toolchain does not run; install the packages that https://swift.org/install lists" >&2; exit 1; }

# lifectl is a static executable, because that starts in half the time. Building it needs a separate directory.
build: toolchain ## Build lifed, lifectl and the C library.
	@echo '#include <systemd/sd-event.h>' | clang -E - >/dev/null 2>&1 || { echo 'cannot build lifed: the headers of libsystemd are missing; install them (Debian: libsystemd-dev)' >&2; exit 1; }
	$(SWIFT) build -c $(BUILD) --static-swift-stdlib --product lifed
	$(SWIFT) build -c $(BUILD) -Xswiftc -static-executable --scratch-path .build/static --product lifectl
	ln -f .build/static/$(BUILD)/lifectl $(products)/lifectl
	$(KEEPER_CC) -Os -s -static -Wall -Wextra -Werror -ISources/CLinux/include Sources/Keeper/main.c -o .build/static/lifed-keeper
	ln -f .build/static/lifed-keeper $(products)/lifed-keeper
	scripts/build-liblifecycle $(library) $(PREFIX)
	@if printf '#include <wayland-client.h>\n#include <xcb/res.h>\n' | clang -E - >/dev/null 2>&1; then \
	    $(SWIFT) build -c $(BUILD) --static-swift-stdlib --product lifed-desktop; \
	else \
	    echo 'cannot build lifed-desktop: the headers of libwayland or libxcb are missing (Debian: libwayland-dev, libxcb-res0-dev); building the rest' >&2; \
	    rm -f $(products)/lifed-desktop; \
	fi

samples: build ## Build the sample apps in Swift and C.
	$(SWIFT) build -c $(BUILD) --static-swift-stdlib --product SampleApp
	$(SWIFT) build -c $(BUILD) --static-swift-stdlib --product ScenesApp
	for app in c-app c-scenes; do \
	    $(CC) -Wall -Wextra -Werror Examples/$$app/main.c -I$(library)/include -L$(library)/lib -llifecycle -o $(library)/$$app || exit; \
	done

deps: ## Install the packages for building and testing (Debian and derivatives).
	@scripts/deps build extras test

demo: toolchain ## Run seven programs through their life cycle in less than a minute.
	@scripts/deps build extras
	@$(MAKE) --no-print-directory samples
	@Examples/demo

test: toolchain ## Run every test that this machine allows, and list the skipped ones.
	@scripts/deps build extras test
	@$(MAKE) --no-print-directory samples
	@scripts/test

test-matrix: build ## Test in containers with Debian 12, 13 and sid, as root: SUITES="...".
	@scripts/deps matrix
	@scripts/test-matrix $(SUITES)

test-machine: build ## Test on emulated machines with the kernels of Debian 12, 13 and sid, as root: SUITES="...".
	@scripts/deps deb machine
	@scripts/test-machine $(SUITES)

simulate: ## Check the promises in random histories: SEEDS=N or INPUTS=N, FROM=SEED.
	$(SWIFT) build -c $(BUILD) --product simulate
	$(products)/simulate $(if $(FROM),--from $(FROM)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(INPUTS),--inputs $(INPUTS))

explore: ## Check the promises in every order of events of small worlds: DEPTH=N.
	$(SWIFT) build -c $(BUILD) --product simulate
	$(products)/simulate --explore $(or $(DEPTH),7)

soak: build ## Keep a daemon and 200 apps busy: MINUTES=N (30), SEED=N to repeat.
	Tests/Soak/soak.py --minutes $(or $(MINUTES),30) $(if $(SEED),--seed $(SEED))

bench: build ## Compare lifed with kill(2) and other supervisors: ROUNDS=N (200), SEED=N to repeat.
	Tests/Bench/bench.py --rounds $(or $(ROUNDS),200) $(if $(SEED),--seed $(SEED))

docs: ## Write the documentation of the Swift library to .build/docs.
	$(SWIFT) build --target Lifecycle
	@scripts/docs

fuzz: ## Fuzz the parsers: SECONDS=N (60) each, TARGET="...".
	@scripts/fuzz --seconds $(or $(SECONDS),60) $(TARGET)

mutate: ## Break each rule of the core in turn, and list those without a failing test.
	@scripts/mutate

sanitize: ## Run the Swift tests under the thread and the address sanitizer.
	@scripts/sanitize

coverage: ## Run the Swift tests and print the coverage of each module.
	@scripts/coverage

pictures: build ## Make the pictures in docs/images.
	@scripts/pictures

format: ## Format the sources.
	$(SWIFT) format -i -r -p $(sources)

lint: ## Check format, style and generated code.
	$(SWIFT) format lint --strict -r -p $(sources)
	scripts/generate-api --check

install: ## Install below PREFIX (/usr/local): DESTDIR=ROOT for packages and images.
	@test -x $(products)/lifed && test -x $(products)/lifectl || { echo 'cannot install lifed: it is not built; run "make" first' >&2; exit 1; }
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(docdir) $(DESTDIR)$(confdir)/apps.d
	install -m 755 $(products)/lifed $(products)/lifectl $(DESTDIR)$(bindir)
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/lifed $(products)/lifed-keeper
	if [ -x $(products)/lifed-desktop ]; then install -m 755 $(products)/lifed-desktop $(DESTDIR)$(bindir); fi
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include
	cp -P --remove-destination $(library)/lib/liblifecycle.so* $(library)/lib/liblifecycle.a $(DESTDIR)$(LIBDIR)
	install -m 644 $(library)/include/lifecycle.h $(DESTDIR)$(PREFIX)/include
	@scripts/install-data "$(DESTDIR)" "$(PREFIX)" "$(confdir)" "$(LIBDIR)"

uninstall: ## Stop the daemon and remove the installed files. The configuration stays.
	@scripts/uninstall "$(DESTDIR)" "$(PREFIX)" "$(confdir)" "$(LIBDIR)"

deb: toolchain ## Build Debian packages in .build/deb: VERSION=N.
	@scripts/deps build deb
	@$(MAKE) --no-print-directory build
	@scripts/deb .build/deb $(VERSION)

dist: toolchain ## Build an archive with an installer in .build/dist: VERSION=N.
	@scripts/deps build dist
	@$(MAKE) --no-print-directory build
	@BUILD=$(BUILD) scripts/dist .build/dist $(VERSION)

clean: ## Remove the build directories.
	rm -rf .build .build-*
