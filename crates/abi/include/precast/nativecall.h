/* precast/nativecall.h: CEP 1000, looks up and calls functions by signature.
 *
 * Plain C11 that is also valid C++; no Python, no libc beyond <string.h>. All functions are `static inline`, so a
 * compiled module or another project includes this file and links nothing. CEP1000.md in the same directory has the details.
 *
 *   "dd)d~"  double f(double, double), callable without the GIL
 *
 *   signature = field* ")" field* [ "!c" | "!s" | "!p" ] [ "~" ]
 *   field     = number | "g" | "Zg" | "P" | "O" | "&" field | "T{" field+ "}" | "X{" signature "}" | "#" [rank] number
 *   number    = one of ? b B h H i I q Q e E f d, or Zf, Zd
 *
 *   callable ── pc_native_cell ──▶ [entry][entry]…[0]      scanned 16 bytes at a time, without a lock
 */
#ifndef PRECAST_NATIVECALL_H
#define PRECAST_NATIVECALL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PC_NATIVE_MAX_BYTES 255 /* of a signature, without its NUL */
#define PC_NATIVE_MAX_DEPTH 8   /* levels of pointers, structs and function pointers */
#define PC_NATIVE_MAX_RANK 32   /* of a tensor */
#define PC_NATIVE_MAX_WORDS 37  /* of a key */

/* ---- Signatures ---------------------------------------------------------------------------------------------------- */

/* The reason why a text is not a canonical signature. */
typedef enum pc_native_problem {
  PC_NATIVE_FINE = 0,
  PC_NATIVE_LONG = 1,       /* more than PC_NATIVE_MAX_BYTES */
  PC_NATIVE_CLOSING = 2,    /* the text ends before the `)` */
  PC_NATIVE_CODE = 3,       /* a character that begins no field and ends nothing */
  PC_NATIVE_UNFINISHED = 4, /* a field stops before it is complete */
  PC_NATIVE_EMPTY = 5,      /* T{} */
  PC_NATIVE_DEPTH = 6,      /* deeper than PC_NATIVE_MAX_DEPTH */
  PC_NATIVE_RANK = 7,       /* above PC_NATIVE_MAX_RANK, or with a leading zero */
  PC_NATIVE_ELEMENT = 8,    /* a tensor whose element type is not a number */
  PC_NATIVE_ERRORS = 9      /* `!` without c, s or p */
} pc_native_problem;

/* A position in a text, and the problem found there. */
typedef struct pc_native_reader {
  const char *text; /* not NUL-terminated */
  size_t len;       /* bytes */
  size_t at;        /* bytes */
  pc_native_problem problem;
} pc_native_reader;

/* Returns the byte `ahead` of the position; 0 behind the end, which is not a code. */
static inline char pc_native_peek(const pc_native_reader *r, size_t ahead) {
  return r->at + ahead < r->len ? r->text[r->at + ahead] : '\0';
}

static inline int pc_native_is_one_of(const char *codes, char code) {
  return code != '\0' && strchr(codes, code) != NULL;
}

static inline int pc_native_is_number(char code) { return pc_native_is_one_of("?bBhHiIqQeEfd", code); }

static inline int pc_native_begins_field(char code) {
  return pc_native_is_number(code) || pc_native_is_one_of("gZPO&TX#", code);
}

static inline int pc_native_refuse(pc_native_reader *r, size_t ahead, pc_native_problem problem) {
  r->at += ahead;
  r->problem = problem;
  return 0;
}

static inline int pc_native_read_fields(pc_native_reader *r, int depth);
static inline int pc_native_read_signature(pc_native_reader *r, int depth);

/* Reads the rank and element type after a `#`. */
static inline int pc_native_read_tensor(pc_native_reader *r) {
  size_t digits = 0;
  int rank = 0;
  for (char c = pc_native_peek(r, 0); c >= '0' && c <= '9'; c = pc_native_peek(r, digits)) {
    rank = rank == 0 && digits > 0 ? PC_NATIVE_MAX_RANK + 1 : 10 * rank + (c - '0');
    digits++;
    if (rank > PC_NATIVE_MAX_RANK) {
      return pc_native_refuse(r, 0, PC_NATIVE_RANK);
    }
  }
  r->at += digits;
  if (pc_native_peek(r, 0) == 'Z' && pc_native_is_one_of("fd", pc_native_peek(r, 1))) {
    r->at += 2;
    return 1;
  }
  if (!pc_native_is_number(pc_native_peek(r, 0))) {
    return pc_native_refuse(r, 0, PC_NATIVE_ELEMENT);
  }
  r->at += 1;
  return 1;
}

static inline int pc_native_read_brace(pc_native_reader *r) {
  if (pc_native_peek(r, 0) != '}') {
    return pc_native_refuse(r, 0, PC_NATIVE_UNFINISHED);
  }
  r->at += 1;
  return 1;
}

static inline int pc_native_read_field(pc_native_reader *r, int depth) {
  char code = pc_native_peek(r, 0);
  char next = pc_native_peek(r, 1);
  if (depth >= PC_NATIVE_MAX_DEPTH && pc_native_is_one_of("&TX", code)) {
    return pc_native_refuse(r, 0, PC_NATIVE_DEPTH);
  }
  r->at += 1;
  if (code == '&' && pc_native_begins_field(next)) {
    return pc_native_read_field(r, depth + 1);
  }
  if (code == 'T' && next == '{') {
    r->at += 1;
    if (pc_native_peek(r, 0) == '}') {
      return pc_native_refuse(r, 0, PC_NATIVE_EMPTY);
    }
    return pc_native_read_fields(r, depth + 1) && pc_native_read_brace(r);
  }
  if (code == 'X' && next == '{') {
    r->at += 1;
    return pc_native_read_signature(r, depth + 1) && pc_native_read_brace(r);
  }
  if (code == 'Z' && pc_native_is_one_of("fdg", next)) {
    r->at += 1;
    return 1;
  }
  if (pc_native_is_one_of("&TXZ", code)) {
    return pc_native_refuse(r, 0, PC_NATIVE_UNFINISHED);
  }
  return code == '#' ? pc_native_read_tensor(r) : 1;
}

static inline int pc_native_read_fields(pc_native_reader *r, int depth) {
  while (pc_native_begins_field(pc_native_peek(r, 0))) {
    if (!pc_native_read_field(r, depth)) {
      return 0;
    }
  }
  return 1;
}

static inline int pc_native_read_signature(pc_native_reader *r, int depth) {
  if (!pc_native_read_fields(r, depth)) {
    return 0;
  }
  if (r->at >= r->len || pc_native_peek(r, 0) != ')') {
    return pc_native_refuse(r, 0, r->at >= r->len ? PC_NATIVE_CLOSING : PC_NATIVE_CODE);
  }
  r->at += 1;
  if (!pc_native_read_fields(r, depth)) {
    return 0;
  }
  if (pc_native_peek(r, 0) == '!') {
    if (!pc_native_is_one_of("csp", pc_native_peek(r, 1))) {
      return pc_native_refuse(r, 1, PC_NATIVE_ERRORS);
    }
    r->at += 2;
  }
  r->at += pc_native_peek(r, 0) == '~';
  return 1;
}

/* Checks that `len` bytes of `text` are one canonical signature. `at`, if not NULL, is set to the byte of the problem. */
static inline pc_native_problem pc_native_check(const char *text, size_t len, size_t *at) {
  pc_native_reader r = {text, len, 0, PC_NATIVE_FINE};
  if (len > PC_NATIVE_MAX_BYTES) {
    r.at = PC_NATIVE_MAX_BYTES;
    r.problem = PC_NATIVE_LONG;
  } else if (pc_native_read_signature(&r, 0) && r.at < len) {
    r.problem = PC_NATIVE_CODE;
  }
  if (at != NULL) {
    *at = r.at;
  }
  return r.problem;
}

/* Returns the end of the field that begins at byte `at` of a canonical signature; `at` itself if none begins there. A caller
 * that builds a call from the text uses it to step through arguments, the `)` and results. */
static inline size_t pc_native_field_end(const char *text, size_t len, size_t at) {
  pc_native_reader r = {text, len, at, PC_NATIVE_FINE};
  return pc_native_begins_field(pc_native_peek(&r, 0)) && pc_native_read_field(&r, 0) ? r.at : at;
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

/* A signature encoded for lookup. */
typedef struct pc_native_key {
  uint64_t words[PC_NATIVE_MAX_WORDS];
  size_t len; /* words in use; odd */
} pc_native_key;

/* Returns the number of words for `units` and at least one end unit. The first word has 8 * a_byte units, later words 7 * a_byte. */
static inline size_t pc_native_words(size_t units, size_t a_byte) {
  size_t more = units + 1 > 8 * a_byte ? units + 1 - 8 * a_byte : 0;
  return (1 + (more + 7 * a_byte - 1) / (7 * a_byte)) | 1;
}

/* Approach 2, verbatim: 8-byte chunks, all but the first after a `-`, with a NUL at the end. Sets `key`; returns the
 * problem of the text, or PC_NATIVE_FINE. */
static inline pc_native_problem pc_native_key_text(pc_native_key *key, const char *text, size_t len) {
  pc_native_problem problem = pc_native_check(text, len, NULL);
  if (problem != PC_NATIVE_FINE) {
    return problem;
  }
  key->len = pc_native_words(len, 1);
  for (size_t word = 0, from = 0; word < key->len; word++) {
    char bytes[8] = {'-', 0, 0, 0, 0, 0, 0, 0};
    size_t head = word > 0;
    size_t part = from < len ? len - from : 0;
    part = part < 8 - head ? part : 8 - head;
    bytes[0] = word > 0 ? '-' : '\0';
    memcpy(bytes + head, text + (part > 0 ? from : 0), part);
    memcpy(&key->words[word], bytes, 8);
    from += 8 - head;
  }
  return PC_NATIVE_FINE;
}

/* 8 bytes of a key as a constant, for `switch` and static tables: fill up with 0, begin each but the first with '-'. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PC_NATIVE_BYTE(c_, at_) ((uint64_t)(unsigned char)(c_) << (56 - 8 * (at_)))
#else
#define PC_NATIVE_BYTE(c_, at_) ((uint64_t)(unsigned char)(c_) << (8 * (at_)))
#endif
#define PC_NATIVE_CHUNK(a_, b_, c_, d_, e_, f_, g_, h_)                                                         \
  (PC_NATIVE_BYTE(a_, 0) | PC_NATIVE_BYTE(b_, 1) | PC_NATIVE_BYTE(c_, 2) | PC_NATIVE_BYTE(d_, 3) |              \
   PC_NATIVE_BYTE(e_, 4) | PC_NATIVE_BYTE(f_, 5) | PC_NATIVE_BYTE(g_, 6) | PC_NATIVE_BYTE(h_, 7))
/* The whole key of a signature of 1 to 7 characters. */
#define PC_NATIVE_WORD(a_, b_, c_, d_, e_, f_, g_) PC_NATIVE_CHUNK(a_, b_, c_, d_, e_, f_, g_, 0)

/* The symbols of the compact encoding. One nibble, from 1 on: */
#define PC_NATIVE_SHORT                                                                                         \
  { ")", "d", "f", "i", "q", "&", "#", "1", "2", "~", "O" }
/* One byte, from 0xC1 on, skipping bytes whose low nibble is 0: */
#define PC_NATIVE_LONG_SYMBOLS                                                                                  \
  {                                                                                                             \
    "?", "b", "B", "h", "H", "I", "Q", "e", "E", "g", "P", "0", "3", "4", "5", "6", "7", "8", "9", "}",         \
        "T{", "X{", "Zf", "Zd", "Zg", "!c", "!s", "!p", "#1d", "#1f", "#2d", "#2f"                              \
  }

/* Returns the number of the longest symbol at the beginning of `text`, 0 if none matches. Sets `size` to its bytes. */
static inline unsigned pc_native_symbol(const char *text, size_t len, size_t *size) {
  static const char *const one[] = PC_NATIVE_SHORT;
  static const char *const more[] = PC_NATIVE_LONG_SYMBOLS;
  unsigned found = 0;
  *size = 0;
  for (unsigned n = 0; n < sizeof one / sizeof one[0]; n++) {
    if (len > 0 && one[n][0] == text[0]) {
      found = n + 1;
      *size = 1;
    }
  }
  for (unsigned n = 0; n < sizeof more / sizeof more[0]; n++) {
    size_t bytes = strlen(more[n]);
    if (bytes > *size && bytes <= len && memcmp(more[n], text, bytes) == 0) {
      found = 0xC1 + n + n / 15;
      *size = bytes;
    }
  }
  return found;
}

static inline void pc_native_put(pc_native_key *key, size_t nibble, unsigned value) {
  size_t word = nibble < 16 ? 0 : 1 + (nibble - 16) / 14;
  size_t place = nibble < 16 ? nibble : 2 + (nibble - 16) % 14;
  key->words[word] |= (uint64_t)value << (60 - 4 * place);
}

/* Approach 2, compact: 4 or 8 bits a symbol, first symbol in the highest bits, words after the first begin with 0xFF. */
static inline pc_native_problem pc_native_key_compact(pc_native_key *key, const char *text, size_t len) {
  pc_native_problem problem = pc_native_check(text, len, NULL);
  if (problem != PC_NATIVE_FINE) {
    return problem;
  }
  memset(key->words, 0, sizeof key->words);
  size_t nibbles = 0;
  for (size_t at = 0, size = 0; at < len; at += size) {
    unsigned symbol = pc_native_symbol(text + at, len - at, &size);
    if (symbol > 0xC0) {
      pc_native_put(key, nibbles++, symbol >> 4);
    }
    pc_native_put(key, nibbles++, symbol & 0xF);
  }
  key->len = pc_native_words(nibbles, 2);
  for (size_t word = 1; word < key->len; word++) {
    key->words[word] |= (uint64_t)0xFF << 56;
  }
  return PC_NATIVE_FINE;
}

/* Decodes a key of chunks to text. `text` has PC_NATIVE_MAX_BYTES + 1 bytes; returns its length. */
static inline size_t pc_native_text_of_chunks(const uint64_t *words, size_t len, char *text) {
  size_t n = 0;
  for (size_t word = 0; word < len; word++) {
    char bytes[8];
    memcpy(bytes, &words[word], 8);
    for (size_t at = word > 0; at < 8 && bytes[at] != '\0' && n < PC_NATIVE_MAX_BYTES; at++) {
      text[n++] = bytes[at];
    }
  }
  text[n] = '\0';
  return n;
}

/* Decodes a compact key to text, like pc_native_text_of_chunks. */
static inline size_t pc_native_text_of_compact(const uint64_t *words, size_t len, char *text) {
  static const char *const one[] = PC_NATIVE_SHORT;
  static const char *const more[] = PC_NATIVE_LONG_SYMBOLS;
  size_t n = 0;
  unsigned high = 0;
  for (size_t word = 0; word < len; word++) {
    for (size_t place = word > 0 ? 2 : 0; place < 16; place++) {
      unsigned nibble = (unsigned)(words[word] >> (60 - 4 * place)) & 0xF;
      const char *symbol = "";
      if (high == 0 && nibble >= 12) {
        high = nibble;
        continue;
      }
      if (nibble == 0) {
        text[n] = '\0';
        return n;
      }
      unsigned number = high > 0 ? (high - 12) * 15 + nibble - 1 : nibble - 1;
      symbol = high == 0 ? one[number] : number < sizeof more / sizeof more[0] ? more[number] : "";
      high = 0;
      size_t bytes = strlen(symbol);
      if (n + bytes > PC_NATIVE_MAX_BYTES) {
        break;
      }
      memcpy(text + n, symbol, bytes);
      n += bytes;
    }
  }
  text[n] = '\0';
  return n;
}

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

/* 8 bytes on every machine: a function, or one more word of a signature. */
typedef union pc_native_slot {
  void (*function)(void);
  uint64_t word;
} pc_native_slot;

/* 16 bytes of a table: a short signature and its function. A longer signature has entries of two words, then its last word and
 * the function.
 * A table ends with an entry whose `signature` is 0. */
typedef struct pc_native_entry {
  uint64_t signature;
  pc_native_slot slot;
} pc_native_entry;

/* An entry of a table of numbers (approach 1A); `signature` is for people. */
typedef struct pc_native_id_entry {
  uint64_t id;
  union {
    const char *text;
    uint64_t word;
  } signature;
  pc_native_slot slot;
} pc_native_id_entry;

/* The cell in which a callable publishes its table. A published table is never changed, nor freed while the callable lives, so
 * it may be read without any lock and without the GIL. A later read may return a longer table. */
typedef struct pc_native_cell {
  const pc_native_entry *table; /* never NULL */
} pc_native_cell;

/* Returns the current table. */
static inline const pc_native_entry *pc_native_table(const pc_native_cell *cell) {
#if defined(__GNUC__)
  return __atomic_load_n(&cell->table, __ATOMIC_ACQUIRE);
#else
  return *(const pc_native_entry *const volatile *)&cell->table;
#endif
}

/* Word `at` of a table. */
static inline uint64_t pc_native_word_at(const pc_native_entry *table, size_t at) {
  return at % 2 == 0 ? table[at / 2].signature : table[at / 2].slot.word;
}

/* Returns the function of a signature of one word (also an interned address); NULL if not found. */
static inline void (*pc_native_find_word(const pc_native_entry *table, uint64_t word))(void) {
  for (; table->signature != 0; table++) {
    if (table->signature == word) {
      return table->slot.function;
    }
  }
  return NULL;
}

/* Returns the function of a signature; NULL if not found. A word is compared only if all words before it were equal, and no
 * word of a key is 0, so the scan does not pass the end. */
static inline void (*pc_native_find(const pc_native_entry *table, const pc_native_key *key))(void) {
  for (; table->signature != 0; table++) {
    size_t same = 0;
    while (same < key->len && pc_native_word_at(table, same) == key->words[same]) {
      same++;
    }
    if (same == key->len) {
      return table[same / 2].slot.function;
    }
  }
  return NULL;
}

/* Returns the function of a number (approach 1A); NULL if not found. */
static inline void (*pc_native_find_id(const pc_native_id_entry *table, uint64_t id))(void) {
  for (; table->id != 0; table++) {
    if (table->id == id) {
      return table->slot.function;
    }
  }
  return NULL;
}

/* Checks an untrusted table of text. Returns its number of 16-byte entries without the end entry. Returns SIZE_MAX if a
 * signature is invalid, or if the first `n` entries contain no end. */
static inline size_t pc_native_check_table(const pc_native_entry *table, size_t n) {
  for (size_t at = 0; at < n;) {
    if (table[at].signature == 0) {
      return at;
    }
    pc_native_key found = {{0}, 0};
    pc_native_key key;
    char text[PC_NATIVE_MAX_BYTES + 1];
    int is_last = 0;
    while (found.len < PC_NATIVE_MAX_WORDS && found.len / 2 + at < n && (!is_last || found.len % 2 == 0)) {
      uint64_t word = pc_native_word_at(table + at, found.len);
      is_last |= memchr(&word, 0, 8) != NULL;
      found.words[found.len++] = word;
    }
    size_t len = pc_native_text_of_chunks(found.words, found.len, text);
    if (!is_last || pc_native_key_text(&key, text, len) != PC_NATIVE_FINE || key.len != found.len ||
        memcmp(key.words, found.words, 8 * key.len) != 0) {
      return SIZE_MAX;
    }
    at += found.len / 2 + 1;
  }
  return SIZE_MAX;
}

/* ---- The registry of approach 1 ------------------------------------------------------------------------------------ */

#define PC_NATIVE_REGISTRY_VERSION 1u
/* The environment variable with the shared registry of a process; precast/nativecall_registry.h reads and sets it. */
#define PC_NATIVE_REGISTRY_VARIABLE "_NATIVECALL_REGISTRY_1"

/* Maps each signature to one address (1B) or one number (1A) in a process. Never freed; any thread may call it. */
typedef struct pc_native_registry {
  uint32_t version;      /* PC_NATIVE_REGISTRY_VERSION */
  uint32_t struct_bytes; /* sizeof(pc_native_registry) */
  /* Returns the unique address of a signature, with one reference that the caller releases; NULL for text that is not canonical. */
  const char *(*intern)(const char *text, size_t len);
  /* Releases one reference; `interned` is a result of `intern`, never NULL. */
  void (*release)(const char *interned);
  /* Returns the number of a signature, constant while the process runs; 0 for text that is not canonical. */
  uint64_t (*id)(const char *text, size_t len);
  /* Returns the signature of a number, never freed; NULL for an unknown number. */
  const char *(*text)(uint64_t id);
} pc_native_registry;

#ifdef __cplusplus
}
#endif
#endif
