/* A party that is not written in Rust: a shared object with a registry of its own, which it offers or gives up. */
#include <precast/nativecall_registry.h>

static char texts[64][PC_NATIVE_MAX_BYTES + 1];
static size_t known;

static uint64_t party_id(const char *text, size_t len) {
  if (pc_native_check(text, len, NULL) != PC_NATIVE_FINE) {
    return 0;
  }
  for (size_t at = 0; at < known; at++) {
    if (strlen(texts[at]) == len && memcmp(texts[at], text, len) == 0) {
      return at + 1;
    }
  }
  if (known == sizeof texts / sizeof texts[0]) {
    return 0;
  }
  memcpy(texts[known], text, len);
  return ++known;
}

static const char *party_text(uint64_t id) { return id >= 1 && id <= known ? texts[id - 1] : NULL; }
static const char *party_intern(const char *text, size_t len) { return party_text(party_id(text, len)); }
static void party_release(const char *interned) { (void)interned; }

static const pc_native_registry MINE = {PC_NATIVE_REGISTRY_VERSION, sizeof(pc_native_registry), party_intern,
                                        party_release, party_id, party_text};

const pc_native_registry *party_share(void) { return pc_native_share(&MINE); }
const pc_native_registry *party_offered(void) { return pc_native_offered(); }
int party_is_mine(const pc_native_registry *registry) { return registry == &MINE; }

/* The order of CEP 1000, in a table that another party fills: exact, promoted, boxed. */
double party_call(const pc_native_cell *cell, double x) {
  const pc_native_entry *table = pc_native_table(cell);
  void (*f)(void) = pc_native_find_word(table, PC_NATIVE_WORD('d', ')', 'd', '~', 0, 0, 0));
  if (f != NULL) {
    return ((double (*)(double))f)(x);
  }
  f = pc_native_find_word(table, PC_NATIVE_WORD('f', ')', 'f', '~', 0, 0, 0));
  return f != NULL ? (double)((float (*)(float))f)((float)x) : -1;
}

/* Whether the table has a signature of any length; -1 if the text is none. */
int party_has(const pc_native_cell *cell, const char *text) {
  pc_native_key key;
  if (pc_native_key_text(&key, text, strlen(text)) != PC_NATIVE_FINE) {
    return -1;
  }
  return pc_native_find(pc_native_table(cell), &key) != NULL;
}
