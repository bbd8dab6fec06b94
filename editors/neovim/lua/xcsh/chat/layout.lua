-- The sizes of the user's windows while a chat is open. A new window takes its room from its
-- neighbor only, which can leave that a few columns; this shares the room among all windows, and
-- gives it back.

local M = {}

---@class xcsh.chat.Layout
---@field tab integer
---@field sizes table<integer, integer[]> width and height of each window
---@field screen integer[] columns and lines

---@return table<integer, integer[]>
local function sizes()
  local all = {}
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_config(window).relative == '' then
      all[window] = { vim.api.nvim_win_get_width(window), vim.api.nvim_win_get_height(window) }
    end
  end
  return all
end

---Returns the sizes of the windows of this tab.
---@return xcsh.chat.Layout
function M.read()
  return {
    tab = vim.api.nvim_get_current_tabpage(),
    sizes = sizes(),
    screen = { vim.o.columns, vim.o.lines },
  }
end

---Sets the sizes of windows, in the order of the screen: each takes its room from the next one.
---@param wanted table<integer, integer[]>
---@param dimension 1|2 width or height
local function set(wanted, dimension)
  local set_size = dimension == 1 and vim.api.nvim_win_set_width or vim.api.nvim_win_set_height
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if wanted[window] then
      set_size(window, math.max(wanted[window][dimension], 1))
    end
  end
end

---Shares the room of a new window among the others, in proportion to their sizes.
---@param before xcsh.chat.Layout
---@param window integer
---@param dimension 1|2 its width or height is the room
function M.share(before, window, dimension)
  local size = dimension == 1 and vim.api.nvim_win_get_width(window)
    or vim.api.nvim_win_get_height(window)
  local whole = dimension == 1 and vim.o.columns or vim.o.lines - vim.o.cmdheight
  local factor = (whole - size - 1) / whole
  local wanted = {}
  for other, was in pairs(before.sizes) do
    wanted[other] = { math.floor(was[1] * factor + 0.5), math.floor(was[2] * factor + 0.5) }
  end
  wanted[window] = { size, size }
  set(wanted, dimension)
end

---Restores the sizes after the chat was closed, unless the user has changed the windows meanwhile.
---@param before xcsh.chat.Layout
---@param after xcsh.chat.Layout after the chat was opened
---@param now xcsh.chat.Layout before it was closed
function M.restore(before, after, now)
  local same = before.tab == vim.api.nvim_get_current_tabpage()
    and vim.deep_equal(before.screen, now.screen)
    and vim.tbl_count(before.sizes) == vim.tbl_count(sizes())
  for window in pairs(before.sizes) do
    same = same and vim.deep_equal(after.sizes[window], now.sizes[window])
  end
  if same then
    set(before.sizes, 1)
    set(before.sizes, 2)
  end
end

return M
