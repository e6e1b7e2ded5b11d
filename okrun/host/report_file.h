/* The file of a report: begun, and locked, as long as the run goes on; under its own name when it is whole. */
#ifndef OKHOST_REPORT_FILE_H
#define OKHOST_REPORT_FILE_H

#include <stdint.h>

/* Open the directory that reports of this process, and of copies of it, go to, and make it where it is absent.
 * Ensures:  0, or the errno value. */
int report_file_place(const char *directory);

/* The open directory; -1 where it could not be had. */
int report_file_directory(void);

/* Begin a report's file.
 * Requires: report_file_place() gave 0; wall is the time now, in nanoseconds since 1970.
 * Ensures:  0, and *fd is the file, empty, close-on-exec and above 2, or the errno value. SPEC: REP-4, REP-6 */
int report_file_begin(uint64_t wall, int *fd);

/* What no other report of the directory has: a part of the file's name. */
const char *report_file_id(void);

/* Say that the file's first bytes, those that are there now, stay if no more can be written. */
void report_file_keep(void);

/* Give a file of a folder another name, unless there is something of that name.
 * Ensures:  0; or the errno value, and nothing is changed. Signal-safe, errno aside.   SPEC: REP-6 */
int report_file_rename(int folder, const char *from, const char *to);

/* Give the whole file its name.
 * Ensures:  0; or the errno value, and no file is changed. Signal-safe, errno aside. */
int report_file_end(void);

/* What is there cannot be made whole: take it back to what is kept, or away. Signal-safe, errno aside. */
void report_file_fail(void);

/* Let go of the file of the process that this one is a copy of. */
void report_file_leave(void);

#endif
