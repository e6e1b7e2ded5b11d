/* JSON to a file, from a signal handler: a fixed buffer, no allocation, ASCII only. */
#ifndef OKHOST_JSON_H
#define OKHOST_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    int fd;
    int error;  /* errno of the first write that failed; nothing is written after it */
    bool comma; /* the next value follows another */
    size_t used;
    char buffer[8192];
};

/* Begin a text that goes to fd. */
void json_start(struct json *json, int fd);

/* End a line after a value that others follow, and write what is held back. */
void json_break(struct json *json);

/* End the last line, and write what is held back; false, and json->error says why, when anything could not be written. */
bool json_finish(struct json *json);

void json_begin(struct json *json, char bracket); /* '{' or '[' */
void json_end(struct json *json, char bracket);   /* '}' or ']' */
void json_key(struct json *json, const char *name);
void json_number(struct json *json, uint64_t value);
void json_tenths(struct json *json, uint64_t tenths); /* as "12.3" */
void json_null(struct json *json);
void json_boolean(struct json *json, bool is_true);

/* A string of any bytes: what is not ASCII as \u escapes, a byte that is not UTF-8 as one of \udc80 to \udcff. */
void json_string(struct json *json, const char *text, size_t length);

/* A key and its value. */
void json_pair_text(struct json *json, const char *key, const char *text);
void json_pair_number(struct json *json, const char *key, uint64_t value);

/* The length of the UTF-8 character at text[0 .. length), and the character; 0 where there is none. */
size_t utf8_character(const char *text, size_t length, uint32_t *character);

#endif
