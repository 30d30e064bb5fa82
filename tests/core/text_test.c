/* Numbers and UTF-8 in text, and quoting. */
#include "core/numbers.h"
#include "core/utf8.h"
#include "support.h"

static void numbers__a_count_is_digits_alone(void **state)
{
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "0x10",
                                      "1e3",
                                      "1.0",
                                      "1,",
                                      "inf",
                                      "٣",
                                      "11",
                                      "18446744073709551616"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (kith__parse_count(&value, bad[i], 0, 10) || value != 7)
            fail_msg("'%s' is taken for a count", bad[i]);
    assert_false(kith__parse_count(&value, "2", 3, 10));
    assert_true(kith__parse_count(&value, "010", 0, 10));
    assert_int_equal(value, 10);
    assert_true(kith__parse_count(&value, "18446744073709551615", 0, UINT64_MAX));
    assert_true(value == UINT64_MAX);
    assert_false(kith__parse_count(&value, "18446744073709551616", 0, UINT64_MAX));
    assert_false(kith__parse_count(&value, "99999999999999999999999", 0, UINT64_MAX));
    assert_true(kith__parse_digits(&value, "12x", 2, 12));
    assert_int_equal(value, 12);
}

static void numbers__a_real_is_decimal(void **state)
{
    static const char *const bad[] = {"",    "-",     ".",   "e3",  "1e",    "0x10", "0x1p3",
                                      "inf", "nan",   " 1",  "1 ",  "+1",    "1,5",  "1.5x",
                                      "--1", "1e999", "101", "-11", "1e+-3", "1.2.3"};
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1", 1},     {"-1", -1},    {".5", .5},   {"5.", 5},   {"2.5e-3", .0025},
                {"1E+1", 10}, {"1e-999", 0}, {"100", 100}, {"-10", -10}};
    double value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (kith__parse_real(&value, bad[i], -10, 100) || value != 7)
            fail_msg("'%s' is taken for a number", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!kith__parse_real(&value, good[i].text, -10, 100))
            fail_msg("'%s' is not taken for a number", good[i].text);
        assert_true(value == good[i].value);
    }
}

static void numbers__settings_take_strict_numbers(void **state)
{
    static const char *const bad[][2] = {
        {"dim", "1e3"},    {"dim", "0x10"},  {"dim", "10.0"}, {"dim", " 10"},
        {"dim", "+10"},    {"lr", "0x1p-4"}, {"lr", "nan"},   {"lr", " .1"},
        {"epochs", "1e2"}, {"seed", "0x1"},  {"seed", "-1"},  {"attention-width", "1e1"}};
    kith_settings settings;
    kith_error error;

    (void)state;
    assert_int_equal(kith__settings_init(&settings, "release", NULL), KITH_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (kith_settings_set(&settings, bad[i][0], bad[i][1], &error) != KITH_ERR_ARGUMENT)
            fail_msg("%s takes '%s'", bad[i][0], bad[i][1]);
    assert_int_equal(kith_settings_set(&settings, "lr", "1e-3", &error), KITH_OK);
    assert_int_equal(kith_settings_set(&settings, "dim", "1000", &error), KITH_OK);
    assert_int_equal(settings.dim, 1000);
}

static bool valid(const char *text)
{
    return kith__utf8_valid(text, strlen(text));
}

static void utf8__well_formed_text_is_valid(void **state)
{
    (void)state;
    assert_true(valid(""));
    assert_true(valid("plain"));
    assert_true(valid("\xc2\x80 \xdf\xbf"));                       /* U+0080, U+07FF */
    assert_true(valid("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80"));  /* U+0800, U+D7FF, U+E000 */
    assert_true(valid("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"));       /* U+10000, U+10FFFF */
    assert_true(valid("a long enough text to be looked at by words \xe2\x82\xac and on"));
}

static void utf8__malformed_text_is_not(void **state)
{
    static const char *const bad[] = {
        "\x80",             /* a continuation alone */
        "\xc0\x80",         /* NUL in two bytes */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xf4\x90\x80\x80", /* past U+10FFFF */
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x90\x80", "\xc3(", "\xe2(\xac",
        "eight b\xff", "12345678\xff", "1234567\xe2\x82",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (valid(bad[i]))
            fail_msg("found text %zu valid, expected it to be malformed", i);
    assert_false(kith__utf8_valid("a\0b", 3));
    assert_false(kith__utf8_valid("12345678\0", 9));
    assert_false(kith__utf8_valid("1234\0" "678", 8));
}

/* Every place of a bad byte in short texts, so that looking at words at a time is no excuse. */
static void utf8__a_bad_byte_is_found_at_any_place(void **state)
{
    char text[40];

    (void)state;
    for (size_t length = 1; length <= sizeof text; length++)
        for (size_t i = 0; i < length; i++) {
            memset(text, 'a', sizeof text);
            assert_true(kith__utf8_valid(text, length));
            text[i] = '\xfe';
            assert_false(kith__utf8_valid(text, length));
            text[i] = '\0';
            assert_false(kith__utf8_valid(text, length));
        }
}

static void quote__escapes_and_cuts(void **state)
{
    char out[KITH__QUOTED], long_text[300];

    (void)state;
    assert_string_equal(kith__quote(out, "a\tb\xff\xe2\x82\xac", 7), "'a\\x09b\\xff\xe2\x82\xac'");
    memset(long_text, '\x01', sizeof long_text);
    kith__quote(out, long_text, sizeof long_text);
    assert_true(strlen(out) < KITH__QUOTED);
    assert_string_equal(out + strlen(out) - 4, "...'");
    /* A character of four bytes is never cut in two. */
    for (size_t lead = 0; lead < 4; lead++) {
        memset(long_text, 'x', lead);
        for (size_t i = lead; i + 4 <= sizeof long_text; i += 4)
            memcpy(long_text + i, "\xf0\x9f\x90\xb6", 4);
        kith__quote(out, long_text, sizeof long_text);
        assert_true(valid(out));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers__a_count_is_digits_alone),
        cmocka_unit_test(numbers__a_real_is_decimal),
        cmocka_unit_test(numbers__settings_take_strict_numbers),
        cmocka_unit_test(utf8__well_formed_text_is_valid),
        cmocka_unit_test(utf8__malformed_text_is_not),
        cmocka_unit_test(utf8__a_bad_byte_is_found_at_any_place),
        cmocka_unit_test(quote__escapes_and_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
