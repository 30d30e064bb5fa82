# The two commands: `make demo` and `make test`. Both install what is missing, build, and go.
# Meson does the building; this file only puts names to it.

PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   := build
ASAN    := build-asan
TSAN    := build-tsan
FUZZ    := build-fuzz
COVER   := build-coverage
TIME    ?= 60
MESON   := meson setup --prefix $(PREFIX)
# Sanitized builds: -O1 compiles in half the time of -O2, and its tests run about as fast, as the kernels
# are compiled with -O3 anyway. Line numbers are all that a report needs.
CHECKED := -Doptimization=1 -Ddebug=true -Dc_args=-g1

.PHONY: all demo test asan tsan bench fuzz coverage install clean setup-build setup-test setup-demo setup-bench setup-fuzz

# Build a folder, silent unless something is wrong. Meson lists the sources when it configures, so it has
# to do that again where files came or went.
define ninja
	@echo "Building in $(1)"
	$(call list_sources,$(1))
	@ninja -C $(1) > $(1)/build.log 2>&1 || (cat $(1)/build.log; exit 1)
endef

define list_sources
	@find src tests fuzz bench -name '*.c' | LC_ALL=C sort > $(1)/sources.new; \
	    if cmp -s $(1)/sources.new $(1)/sources; then rm $(1)/sources.new; else \
	    mv $(1)/sources.new $(1)/sources && touch meson.build; fi
endef

all: setup-build $(BUILD)/build.ninja
	$(call ninja,$(BUILD))

setup-build setup-test setup-demo setup-bench setup-fuzz: setup-%:
	@tools/setup $*

$(BUILD)/build.ninja: | setup-build
	@$(MESON) $(BUILD) > $(BUILD).log || (cat $(BUILD).log; exit 1)
	@mv $(BUILD).log $(BUILD)/setup.log

$(ASAN)/build.ninja: | setup-test
	@$(MESON) $(ASAN) $(CHECKED) -Db_sanitize=address,undefined -Db_lundef=false \
	    -Dtests=true --werror > $(ASAN).log || (cat $(ASAN).log; exit 1)
	@mv $(ASAN).log $(ASAN)/setup.log

asan: setup-test $(ASAN)/build.ninja
	$(call ninja,$(ASAN))

# The tests of work on several threads, with the thread sanitizer.
TSAN_TESTS := $(TSAN)/tests/core_pool_test $(TSAN)/tests/api_threads_test

$(TSAN)/build.ninja: | setup-test
	@$(MESON) $(TSAN) $(CHECKED) -Db_sanitize=thread -Db_lundef=false \
	    -Dtests=true --werror > $(TSAN).log || (cat $(TSAN).log; exit 1)
	@mv $(TSAN).log $(TSAN)/setup.log

tsan: setup-test $(TSAN)/build.ninja
	@echo "Building in $(TSAN)"
	$(call list_sources,$(TSAN))
	@ninja -C $(TSAN) $(TSAN_TESTS:$(TSAN)/%=%) > $(TSAN)/build.log 2>&1 || \
	    (cat $(TSAN)/build.log; exit 1)

test: setup-test $(BUILD)/build.ninja asan tsan
	@meson configure $(BUILD) -Dtests=true -Dwerror=true > /dev/null
	$(call ninja,$(BUILD))
	@tests/run $(BUILD) $(ASAN) $(TSAN_TESTS)

demo: setup-demo all
	@tools/demo $(BUILD)/kith

bench: setup-bench all
	@meson configure $(BUILD) -Dbench=true > /dev/null
	$(call ninja,$(BUILD))
	@bench/run $(BUILD)

# Look for inputs that break something, for TIME seconds per target. What is found is left in $(FUZZ)/found.
$(FUZZ)/build.ninja: | setup-fuzz
	@CC=clang $(MESON) $(FUZZ) --buildtype debugoptimized -Dfuzz=true -Db_sanitize=address,undefined \
	    -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link > $(FUZZ).log || (cat $(FUZZ).log; exit 1)
	@mv $(FUZZ).log $(FUZZ)/setup.log

fuzz: setup-fuzz $(FUZZ)/build.ninja
	$(call ninja,$(FUZZ))
	@tools/fuzz $(FUZZ) $(TIME)

# How many lines of its reader each fuzz target reaches.
$(COVER)/build.ninja: | setup-test
	@$(MESON) $(COVER) --buildtype debug -Db_coverage=true -Dtests=true > $(COVER).log || \
	    (cat $(COVER).log; exit 1)
	@mv $(COVER).log $(COVER)/setup.log

coverage: setup-test $(COVER)/build.ninja
	$(call ninja,$(COVER))
	@fuzz/coverage $(COVER)

install: all
	@meson configure $(BUILD) --prefix $(PREFIX) > /dev/null
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) > $(BUILD)/install.log || (cat $(BUILD)/install.log; exit 1)
	@grep '^Installing' $(BUILD)/install.log

clean:
	rm -rf $(BUILD) $(ASAN) $(TSAN) $(FUZZ) $(COVER)
