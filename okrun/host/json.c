#include "json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void json_start(struct json *json, int fd)
{
    *json = (struct json){.fd = fd};
}

static void flush(struct json *json)
{
    size_t done = 0;

    while (done < json->used && json->error == 0) {
        ssize_t n = write(json->fd, json->buffer + done, json->used - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            json->error = EIO;
        else if (errno != EINTR)
            json->error = errno;
    }
    json->used = 0;
}

static void put(struct json *json, char c)
{
    if (json->used == sizeof json->buffer)
        flush(json);
    json->buffer[json->used++] = c;
}

void json_break(struct json *json)
{
    put(json, ',');
    put(json, '\n');
    flush(json);
    json->comma = false;
}

bool json_finish(struct json *json)
{
    put(json, '\n');
    flush(json);
    return json->error == 0;
}

static void put_all(struct json *json, const char *text)
{
    while (*text)
        put(json, *text++);
}

/* What stands before a value. */
static void value(struct json *json)
{
    if (json->comma)
        put(json, ',');
    json->comma = true;
}

void json_begin(struct json *json, char bracket)
{
    value(json);
    put(json, bracket);
    json->comma = false;
}

void json_end(struct json *json, char bracket)
{
    put(json, bracket);
    json->comma = true;
}

void json_key(struct json *json, const char *name)
{
    json_string(json, name, strlen(name));
    put(json, ':');
    json->comma = false;
}

static void put_number(struct json *json, uint64_t number)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (n > 0)
        put(json, digits[--n]);
}

void json_number(struct json *json, uint64_t number)
{
    value(json);
    put_number(json, number);
}

void json_tenths(struct json *json, uint64_t tenths)
{
    value(json);
    put_number(json, tenths / 10);
    put(json, '.');
    put_number(json, tenths % 10);
}

void json_null(struct json *json)
{
    value(json);
    put_all(json, "null");
}

void json_boolean(struct json *json, bool is_true)
{
    value(json);
    put_all(json, is_true ? "true" : "false");
}

/* One UTF-16 unit. */
static void put_unit(struct json *json, uint32_t unit)
{
    put_all(json, "\\u");
    for (int shift = 12; shift >= 0; shift -= 4)
        put(json, "0123456789abcdef"[unit >> shift & 15]);
}

static void put_character(struct json *json, uint32_t character)
{
    if (character == '"' || character == '\\') {
        put(json, '\\');
        put(json, (char)character);
    } else if (character >= 0x20 && character < 0x7f) {
        put(json, (char)character);
    } else if (character < 0x10000) {
        put_unit(json, character);
    } else {
        put_unit(json, 0xd7c0 + (character >> 10)); /* 0xd800 less 0x10000 >> 10 */
        put_unit(json, 0xdc00 + (character & 0x3ff));
    }
}

void json_string(struct json *json, const char *text, size_t length)
{
    value(json);
    put(json, '"');
    while (length > 0) {
        uint32_t character;
        size_t n = utf8_character(text, length, &character);

        if (n > 0) {
            put_character(json, character);
        } else {
            put_unit(json, 0xdc00u + (unsigned char)*text);
            n = 1;
        }
        text += n;
        length -= n;
    }
    put(json, '"');
}

void json_pair_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_string(json, text, strlen(text));
}

void json_pair_number(struct json *json, const char *key, uint64_t number)
{
    json_key(json, key);
    json_number(json, number);
}

size_t utf8_character(const char *text, size_t length, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    size_t n;

    if (length == 0)
        return 0;
    n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > length)
        return 0;
    *character = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (s[i] & 0x3fu);
    }
    if (*character < least[n] || (*character >= 0xd800 && *character < 0xe000) || *character > 0x10ffff)
        return 0;
    return n;
}
