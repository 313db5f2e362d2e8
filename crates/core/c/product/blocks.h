/* product/blocks.h: a product as tiles of blocks that stay in the caches. A part of template.h.
 *
 *   k in blocks of PC_BLOCK_K: results are added to c block after block, so the bits depend on this number
 *     n in blocks, copied as panels of PC_VECTORS vectors ─┐
 *       m in blocks, copied as strips of PC_ROWS rows ─────┴─▶ tile after tile
 *
 * If the copy would cost more than it saves, tiles read the operand in place.
 * A complex product is a real one: a row of a is (re, im, re, im, …), and a row of b becomes two, (re, im, …) and
 * (-im, re, …), so that c gets (re, im, …).
 */

/* Copies rows i .. i + rows of a, elements q .. q + depth of each, as a strip. */
static void PC_NAME(pack_rows)(const pc_product *p, int64_t i, int64_t rows, int64_t q, int64_t depth, PC_T *to) {
  const PC_T *a = (const PC_T *)p->a + i * p->a_row + q / p->parts * p->a_col;
  if (p->a_col == p->parts) {
    pc_turn(sizeof(PC_T), rows, depth, (char *)to, PC_ROWS * sizeof(PC_T), (const char *)a, p->a_row * (int64_t)sizeof(PC_T));
    return;
  }
  for (int64_t l = 0; l < depth; l += p->parts, a += p->a_col, to += p->parts * PC_ROWS) {
    for (int64_t t = 0; t < p->parts; t++) {
      if (p->a_row == 1 && rows == PC_ROWS) {
        memcpy(to + t * PC_ROWS, a + t, PC_ROWS * sizeof(PC_T));
      } else {
        for (int64_t r = 0; r < rows; r++) to[t * PC_ROWS + r] = a[r * p->a_row + t];
      }
    }
  }
}

/* Copies columns j .. j + columns of b, elements q .. q + depth of each, as a panel; elements missing in its last vector are 0. */
static void PC_NAME(pack_columns)(const pc_product *p, int64_t j, int64_t columns, int64_t q, int64_t depth, PC_T *to) {
  const PC_T *b = (const PC_T *)p->b + q / p->parts * p->b_row + j / p->parts * p->b_col;
  int64_t last = columns / PC_LANES * PC_LANES;
  for (int64_t l = 0; last < columns && l < depth; l++) memset(to + l * PC_COLUMNS + last, 0, PC_VECTOR_BYTES);
  if (p->parts == 2) {
    for (int64_t l = 0; l < depth; l += 2, b += p->b_row, to += 2 * PC_COLUMNS) {
      for (int64_t x = 0; x < columns; x += 2) {
        PC_T re = b[x / 2 * p->b_col], im = b[x / 2 * p->b_col + 1];
        to[x] = re, to[x + 1] = im, to[PC_COLUMNS + x] = -im, to[PC_COLUMNS + x + 1] = re;
      }
    }
  } else if (p->b_row == 1) {
    pc_turn(sizeof(PC_T), columns, depth, (char *)to, PC_COLUMNS * sizeof(PC_T), (const char *)b, p->b_col * (int64_t)sizeof(PC_T));
  } else {
    for (int64_t l = 0; l < depth; l++, b += p->b_row, to += PC_COLUMNS) {
      if (p->b_col == 1 && columns == PC_COLUMNS) {
        memcpy(to, b, PC_COLUMNS * sizeof(PC_T));
      } else {
        for (int64_t x = 0; x < columns; x++) to[x] = b[x * p->b_col];
      }
    }
  }
}

/* Computes the tile at c. If its columns are not neighbours, it is computed beside c and copied there. */
static void PC_NAME(tile_to)(const pc_product *p, PC_T *c, int64_t rows, int64_t columns, int64_t k, const PC_T *a, int64_t a_row,
                             int64_t a_col, const PC_T *b, int64_t b_row, int add) {
  int64_t vectors = (columns + PC_LANES - 1) / PC_LANES, rest = columns - (vectors - 1) * PC_LANES;
  PC_NAME(tile) tile = PC_NAME(tiles)[rows / 2 - rows / 8][vectors - 1];
  if (p->c_col == p->parts) {
    tile(k, a, a_row, a_col, b, b_row, c, p->c_row, rest, add);
    return;
  }
  PC_T beside[PC_ROWS * PC_COLUMNS];
  tile(k, a, a_row, a_col, b, b_row, beside, PC_COLUMNS, rest, 0);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      PC_T *to = c + i * p->c_row + j / p->parts * p->c_col + j % p->parts;
      *to = add ? *to + beside[i * PC_COLUMNS + j] : beside[i * PC_COLUMNS + j];
    }
  }
}

/* Computes one block: `columns` columns of c from j on, `depth` of k from q on. */
static void PC_NAME(block)(const pc_product *p, int64_t j, int64_t columns, int64_t q, int64_t depth) {
  int copy_a = pc_product_copies_a(p), copy_b = pc_product_copies_b(p);
  int64_t a_col = p->parts == 1 ? p->a_col : 1;
  PC_T *strips = p->scratch, *panels = strips + (copy_a ? PC_BLOCK_ROWS * depth : 0);
  const PC_T *a = (const PC_T *)p->a + q * a_col, *b = (const PC_T *)p->b + q * p->b_row + j;
  for (int64_t x = 0; copy_b && x < columns; x += PC_COLUMNS) {
    PC_NAME(pack_columns)(p, j + x, pc_least(columns - x, PC_COLUMNS), q, depth, panels + x * depth);
  }
  for (int64_t i = 0; i < p->m; i += PC_BLOCK_ROWS) {
    int64_t rows = pc_least(p->m - i, PC_BLOCK_ROWS);
    for (int64_t r = 0; copy_a && r < rows; r += PC_ROWS) {
      PC_NAME(pack_rows)(p, i + r, pc_least(rows - r, PC_ROWS), q, depth, strips + r * depth);
    }
    for (int64_t x = 0; x < columns; x += PC_COLUMNS) {
      const PC_T *of_b = copy_b ? panels + x * depth : b + x;
      for (int64_t r = 0, high; r < rows; r += high) {
        for (high = PC_ROWS; high > rows - r;) high /= 2;
        const PC_T *of_a = copy_a ? strips + r / PC_ROWS * PC_ROWS * depth + r % PC_ROWS : a + (i + r) * p->a_row;
        PC_T *c = (PC_T *)p->c + (i + r) * p->c_row + (j + x) / p->parts * p->c_col;
        PC_NAME(tile_to)(p, c, high, pc_least(columns - x, PC_COLUMNS), depth, of_a, copy_a ? 1 : p->a_row, copy_a ? PC_ROWS : a_col, of_b,
                         copy_b ? PC_COLUMNS : p->b_row, q > 0);
      }
    }
  }
}

/* Computes a product of one block and of one panel, whose operands are read in place. */
static void PC_NAME(narrow)(const pc_product *p) {
  int64_t vectors = (p->n + PC_LANES - 1) / PC_LANES, rest = p->n - (vectors - 1) * PC_LANES;
  for (int64_t r = 0, high; r < p->m; r += high) {
    for (high = PC_ROWS; high > p->m - r;) high /= 2;
    PC_NAME(tiles)[high / 2 - high / 8][vectors - 1](p->k, (const PC_T *)p->a + r * p->a_row, p->a_row, p->a_col, p->b, p->b_row,
                                                     (PC_T *)p->c + r * p->c_row, p->c_row, rest, 0);
  }
}

/* Computes the whole product. Blocks of n are about equally wide. Small products come first: planning their blocks would take as long as
 * computing them. */
void PC_NAME(product)(const pc_product *p);
void PC_NAME(product)(const pc_product *p) {
  if (p->n <= PC_COLUMNS && p->k <= PC_BLOCK_K && p->m <= PC_PRODUCT_FEW && p->parts == 1 && p->b_col == 1 && p->c_col == 1) {
    PC_NAME(narrow)(p);
    return;
  }
  const int64_t most = PC_BLOCK_ROW_BYTES / (int64_t)sizeof(PC_T), panels = (p->n + PC_COLUMNS - 1) / PC_COLUMNS;
  const int64_t blocks = (p->n + most - 1) / most, width = (panels + blocks - 1) / blocks * PC_COLUMNS;
  for (int64_t j = 0; j < p->n; j += width) {
    for (int64_t q = 0; q < p->k; q += PC_BLOCK_K) PC_NAME(block)(p, j, pc_least(p->n - j, width), q, pc_least(p->k - q, PC_BLOCK_K));
  }
}
