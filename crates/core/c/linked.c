/* The modules that are linked into this program: weak symbols, which only C can name. */
#include <precast/linked.h>

const pc_linked *precast_linked_first(void);
const pc_linked *precast_linked_end(void);

const pc_linked *precast_linked_first(void) { return PC_LINKED_FIRST; }
const pc_linked *precast_linked_end(void) { return PC_LINKED_END; }
