"""Every maximum that a reader of files enforces, with its reason.

Hostile bytes may ask for any amount of work; each number here is far above what a linker makes and
far below what would hurt.
"""

from __future__ import annotations

PAGE = 0x10000  # bytes; the largest page size in use on the processors named in SPEC 2

MAX_FILE = 1 << 32  # bytes of an image; more than any linker makes, and offsets stay small
MAX_ADDRESS = 1 << 40  # end of a link address; below the user half of every processor's addresses
MAX_SPAN = 1 << 30  # bytes of address space; one reservation that succeeds on a small machine
MIN_ALIGN = PAGE  # of a segment; less, and two segments could meet in a page
MAX_ALIGN = 1 << 21  # of a segment; the usual huge page, more would waste the reservation

MAX_SEGMENTS = 64  # program headers; linkers write about 12, the table is walked for every question
MAX_SECTIONS = 1 << 20  # one a function gives tens of thousands; the list is held in memory

MAX_DYNAMIC = 512  # entries; linkers write about 30
MAX_STRINGS = 1 << 26  # bytes of DT_STRTAB; it is read whole
MAX_SYMBOLS = 1 << 20  # dynamic symbols; the table is held in memory
MAX_IMPORTS = 1 << 16  # undefined symbols; the surface has about a hundred names
MAX_NAME = 255  # bytes of an import's name, and what a message shows of any; hostile ones overlap
MAX_BUCKETS = 1 << 20  # of a hash table; one a symbol
MAX_BLOOM = 1 << 16  # words of a GNU hash table's filter; half a word a symbol is usual
MAX_RELOCATIONS = 1 << 24  # entries, or places that RELR names; a second of checking
MAX_ARRAY = 1 << 16  # bytes of DT_INIT_ARRAY; 8,192 initialisers

MAX_NOTES = 1 << 16  # bytes of a PT_NOTE; a build id and a declaration take 100
MAX_NOTE_NAME = 255  # bytes of an owner's name, with its NUL
MAX_NOTE_DESC = 1 << 15  # bytes of a descriptor
MAX_BUILD_ID = 64  # bytes; SHA-512, the longest in use

MAX_BUNDLE = (1 << 32) - 1  # bytes; every offset then fits in 32 bits, without zip64
MAX_MEMBERS = 64  # images of a bundle; there are three processors
MAX_ENTRY_NAME = 100  # bytes of a name in a bundle
MAX_MANIFEST = 1 << 20  # bytes; 64 members take 40,000, and every start hashes it
MAX_SIGNATURE = 1 << 16  # bytes; an RSA key of 16,384 bits takes 6,000

MIN_RSA_BITS = 2048  # of a modulus; shorter ones are within reach of who has computers
MAX_RSA_BITS = 16384  # of a modulus; the longest that OpenSSL and ssh-keygen take
MAX_RSA_EXPONENT = (1 << 64) - 1  # 65,537 is usual; a check's time grows with it
MAX_PRIVATE_KEY = 1 << 16  # bytes of a key's file; RSA of 16,384 bits takes 13,000
MAX_TRUST = 1 << 20  # bytes of allowed_signers; 1,500 RSA keys
MAX_AGENT_MESSAGE = 1 << 18  # bytes of an ssh-agent's answer; what OpenSSH's own may send
MAX_TABLE = 1 << 22  # symbols that name addresses; the largest libraries have a quarter of it
MAX_NAMES = 1 << 29  # bytes of their string table, and of their names; browsers have half of it
MAX_ALIASES = 255  # further names of one address that are told; linkers fold that many functions
MAX_ALIAS = 1 << 12  # bytes of such a name; C++ has a few that long
MAX_PLT = 1 << 20  # bytes of a section of stubs that are decoded; 65,000 functions of others
MAX_SHOWN = 1 << 30  # bytes of a file that is described; it is read whole, and held twice
MAX_COPIES = 4  # times that its bytes may be in its segments and sections; linkers make it two
MAX_COMMANDS = 1 << 16  # load commands of a Mach-O file; linkers write dozens
MAX_SLICES = 64  # programs in a fat file; there have never been that many processors

MAX_DEBUG_SECTION = 1 << 32  # bytes of one, inflated; as far as offsets of 32 bits reach
MAX_RATIO = 200  # of a section's size to its compressed size; linkers reach a tenth of it
SMALL_SECTION = 1 << 20  # bytes of a section that may have any ratio: some hold little but zeros
MAX_INFLATED_HELD = 1 << 24  # inflated bytes of a section that are kept; the rest is inflated anew
MAX_INFLATED_STATES = 256  # of 50 KiB: states of zlib that are kept for one section
MAX_ZSTD_HELD = 1 << 27  # as MAX_INFLATED_HELD; zstd has no states, and would begin at the start
MAX_ZSTD_WINDOW = 25  # log2 of the bytes that a zstd stream may look back; linkers use 21 to 23
MAX_UNORDERED = 1 << 18  # relocations of a table that does not ascend; it is held in memory
MAX_DEBUG_WHOLE = 1 << 28  # bytes of a debug section that is held whole; strings of a browser
MAX_ABBREVIATION = 1 << 12  # bytes of one; compilers write dozens
MAX_ABBREVIATIONS = 1 << 16  # of one table; compilers write hundreds
MAX_UNITS = 1 << 20  # of one file's DWARF; each header is looked at where there are no aranges
MAX_UNIT = 1 << 27  # bytes of a unit; whole programs compiled as one have 100 MiB
MAX_NESTING = 1 << 12  # entries around an entry; compilers make some dozens
MAX_ENTRIES = 1 << 22  # of debug information that a question may walk over; real ones take 43,000
MAX_WORK = 1 << 22  # steps of other work of a question: half a second; real ones take 760,000
WHOLE = 16  # times as much, for a whole unit or the map of all units: asked once, answered often
MAX_ARANGES = 1 << 25  # bytes of .debug_aranges; a longer one is not used
MAX_CHAIN = 16  # entries that say of what they are an instance; compilers write three
MAX_FRAMES = 1 << 10  # calls inlined into each other; compilers stop at dozens
MAX_LINE_PROGRAM = 1 << 24  # bytes of a unit's line program; it is held in memory
MAX_LINE_FILES = 1 << 18  # files and directories of a line program; 70,000 have been seen
MAX_ROWS = 1 << 21  # of a line program; they are held in memory
MAX_DEBUG_STRING = 1 << 20  # bytes of a name in debug information; C++ has some of 100,000
MAX_MINIDEBUG = 1 << 26  # bytes of an inflated .gnu_debugdata; function symbols alone
MAX_XZ_MEMORY = 1 << 27  # bytes that inflating it may take; xz's highest preset takes half of it
MAX_LINK = 1 << 13  # bytes of a section with the name of another file; a path has half of it
MAX_DOWNLOAD = 1 << 32  # bytes of a debug file from the network; a browser's has a quarter of it
MAX_SPLIT = 1 << 27  # bytes of one file of split units; a large C++ source makes 10 MB
MAX_SPLIT_UNITS = 1 << 16  # units of one such file, or probes of a package's index
MAX_MANGLED = 1 << 14  # bytes of a mangled name; C++ has a few of 10,000
MAX_MANGLED_HERE = 1 << 12  # of one demangled here; a deep one takes 160 of the stack a byte
MAX_DEMANGLED = 1 << 22  # bytes of what a name stands for, up to a factor of 25
MAX_APART = 1 << 29  # bytes of memory of the process that demangles what may be long
MAX_APART_SECONDS = 0.5  # for such a name; the longest real ones take a hundredth of it

CHUNK = (
    1 << 12
)  # table entries decoded at a time: bounds memory, and stays in the processor's cache
