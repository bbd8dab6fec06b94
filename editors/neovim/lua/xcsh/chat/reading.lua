-- The reading positions of windows: the cursor and the top line, relative to the messages there.
-- They stay when messages are added or dropped above.

local M = {}

---@class xcsh.chat.Anchor
---@field section xcsh.chat.Section
---@field offset integer lines from its first line to the cursor

---@class xcsh.chat.Position
---@field anchors xcsh.chat.Anchor[] the first one that is still shown counts
---@field top integer lines from the top line to the cursor

---Returns the section at a row.
---@param sections xcsh.chat.Section[]
---@param row integer from 1
---@return integer index
function M.index_at(sections, row)
  local low, high = 1, #sections
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if sections[middle].start <= row then
      low = middle
    else
      high = middle - 1
    end
  end
  return low
end

---Returns the messages that a row moves with. A row in place of missing messages moves with the
---next message if a page is added above that, and else with the previous one. Messages can
---disappear: the first ones can be results whose calls are in the page.
---@param sections xcsh.chat.Section[]
---@param row integer
---@param where? xcsh.chat.Where
---@return xcsh.chat.Anchor[]
local function anchors_of(sections, row, where)
  local anchors = {}
  local index, step = M.index_at(sections, row), 1
  if sections[index].kind == 'more' and where == 'down' then
    index, step = index - 1, -1
  end
  local section = sections[index]
  while section and section.kind ~= 'tail' and #anchors < 100 do
    if section.item then
      anchors[#anchors + 1] = { section = section, offset = row - section.start }
    end
    index = index + step
    section = sections[index]
  end
  return anchors
end

---@param window integer
local function view_of(window)
  return vim.api.nvim_win_call(window, vim.fn.winsaveview)
end

---Returns the positions of the windows that show a buffer.
---@param bufnr integer
---@param sections xcsh.chat.Section[]
---@param where? xcsh.chat.Where the page to be added
---@return table<integer, xcsh.chat.Position>
function M.positions(bufnr, sections, where)
  local positions = {}
  for _, window in ipairs(#sections > 0 and vim.fn.win_findbuf(bufnr) or {}) do
    local view = view_of(window)
    positions[window] = {
      anchors = anchors_of(sections, view.lnum, where),
      top = view.lnum - view.topline,
    }
  end
  return positions
end

---Returns the number of empty rows below the last line of a window, which shows the end of its
---buffer; nil if the last line is not on the screen.
---@param window integer
---@return integer?
local function blank_rows(window)
  local bufnr = vim.api.nvim_win_get_buf(window)
  local last = vim.api.nvim_buf_line_count(bufnr)
  local top = vim.fn.line('w0', window)
  if last - top > vim.o.lines and vim.fn.line('w$', window) < last then
    return nil -- without folds, so many lines do not fit
  end
  local rows = vim.api.nvim_win_text_height(window, { start_row = top - 1 }).all
  local bar = vim.wo[window].winbar ~= '' and 1 or 0
  return math.max(vim.api.nvim_win_get_height(window) - bar - rows, 0)
end

---Returns the empty rows below the end of the conversation that the windows of a buffer need not
---have, because there is text above the screen.
---@param bufnr integer
---@return table<integer, integer>
function M.blank(bufnr)
  local blank = {}
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    blank[window] = vim.fn.line('w0', window) > 1 and blank_rows(window) or 0
  end
  return blank
end

---Moves the text down in windows that got empty rows although there is text above the screen.
---Neovim does not do that when lines are removed, or folded after it scrolled to them. A window
---that the user scrolled beyond the end stays as it is.
---@param blank table<integer, integer> before the change
function M.fill(blank)
  for window, before in pairs(blank) do
    local now = vim.fn.line('w0', window) > 1 and blank_rows(window) or 0
    if now > before then
      local cursor = vim.api.nvim_win_get_cursor(window)
      vim.api.nvim_win_call(window, function()
        vim.cmd('keepjumps normal! Gzb')
      end)
      vim.api.nvim_win_set_cursor(window, cursor)
    end
  end
end

---Returns the row of a position; nil if its message has changed, because Neovim knows better which
---line it was.
---@param position xcsh.chat.Position
---@param shown table<any, boolean> sections and items
---@return integer?
local function row_of(position, shown)
  for _, anchor in ipairs(position.anchors) do
    if shown[anchor.section] then
      return math.max(anchor.section.start + anchor.offset, 1)
    elseif shown[anchor.section.item] then
      return nil
    end
  end
end

---@param positions table<integer, xcsh.chat.Position>
---@param sections xcsh.chat.Section[]
function M.restore(positions, sections)
  local shown = {}
  for _, section in ipairs(sections) do
    shown[section] = true
    shown[section.item or section] = true
  end
  for window, position in pairs(positions) do
    local row = row_of(position, shown)
    local view = row and view_of(window)
    local top = row and math.max(row - position.top, 1)
    if view and (view.lnum ~= row or view.topline ~= top) then
      view.lnum, view.topline = row, top
      vim.api.nvim_win_call(window, function()
        vim.fn.winrestview(view)
      end)
    end
  end
end

return M
