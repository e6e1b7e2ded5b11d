/* /tmp/perf-<pid>.map, by which perf names code that it finds in no file. */
#ifndef OKHOST_PERFMAP_H
#define OKHOST_PERFMAP_H

/* Write the map of the image's code for this process.
 * Requires: host_image is set; SIGPIPE and SIGXFSZ are blocked.
 * Ensures:  the whole map is there, for its owner alone; or nothing of it is, and one line says why.
 * Never:    follows a link, or removes what another user or another name holds.   SPEC: PMAP-1 to PMAP-3 */
void perfmap_write(void);

#endif
