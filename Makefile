# The two commands: `make demo` and `make test`. Both install what is missing, build, and go.
# Meson does the building; this file only puts names to it.

PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   := build
ASAN    := build-asan
MESON   := meson setup --prefix $(PREFIX)

.PHONY: all demo test asan bench install clean setup-build setup-test setup-demo setup-bench

all: setup-build $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

setup-build setup-test setup-demo setup-bench: setup-%:
	@tools/setup $*

$(BUILD)/build.ninja: | setup-build
	@$(MESON) $(BUILD) > $(BUILD).log || (cat $(BUILD).log; exit 1)
	@mv $(BUILD).log $(BUILD)/setup.log

$(ASAN)/build.ninja: | setup-test
	@$(MESON) $(ASAN) --buildtype debugoptimized -Db_sanitize=address,undefined -Db_lundef=false \
	    -Dtests=true --werror > $(ASAN).log || (cat $(ASAN).log; exit 1)
	@mv $(ASAN).log $(ASAN)/setup.log

asan: setup-test $(ASAN)/build.ninja
	@ninja -C $(ASAN) --quiet

test: setup-test $(BUILD)/build.ninja asan
	@meson configure $(BUILD) -Dtests=true -Dwerror=true
	@ninja -C $(BUILD) --quiet
	@tests/run $(BUILD) $(ASAN)

demo: setup-demo all
	@tools/demo $(BUILD)/kith

bench: setup-bench all
	@meson configure $(BUILD) -Dbench=true
	@ninja -C $(BUILD) --quiet
	@bench/run $(BUILD)

install: all
	@DESTDIR=$(DESTDIR) meson configure $(BUILD) --prefix $(PREFIX)
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) $(ASAN)
