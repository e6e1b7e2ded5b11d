/* The whole openkal surface. Made from okld/iface/surface.txt. */
#ifndef OPENKAL_OPENKAL_H
#define OPENKAL_OPENKAL_H

#include "types.h"
#include "version.h"
#include "abort.h"
#include "stream.h"
#include "memory.h"
#include "env.h"
#include "time.h"
#include "random.h"
#include "fs.h"
#include "process.h"
#include "task.h"
#include "exec.h"
#include "terminal.h"
#include "net.h"
#include "datagram.h"
#include "space.h"
#include "timeout.h"
#include "map.h"
#include "region.h"
#include "prof.h"
#include "debug.h"

#endif
