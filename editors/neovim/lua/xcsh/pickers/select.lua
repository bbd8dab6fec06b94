-- vim.ui.select, which users may replace. It has neither previews nor keys. Neovim's own one prints
-- the whole list, and a list that is longer than the screen waits for keys behind "-- More --", so
-- that it is shown in parts that fit, with a search.

local text = require('xcsh.text')

local M = {}

---Rows of the screen that the list cannot have: the lines below it, the question, and a margin.
local reserved = 5

---Reports whether vim.ui.select is Neovim's own.
function M.is_own()
  local source = debug.getinfo(vim.ui.select, 'S').source
  return vim.fs.normalize(source):find('vim/ui%.lua$') ~= nil
end

---@class xcsh.SelectStep a line that is not an item
---@field says string
---@field open fun()

---Returns the items whose lines contain all words of a query.
---@param items any[]
---@param format fun(item: any): string
---@param query string
---@return any[]
local function matching(items, format, query)
  local words = vim.split(query:lower(), '%s+', { trimempty = true })
  return vim.tbl_filter(function(item)
    local line = format(item):lower()
    return vim.iter(words):all(function(word)
      return line:find(word, 1, true) ~= nil
    end)
  end, items)
end

---@class xcsh.SelectPart
---@field all any[] every item
---@field items any[] those that match
---@field query string
---@field from integer the first item that is shown

---@param part xcsh.SelectPart
---@param opts table
---@param done fun(item: any)
local function show(part, opts, done)
  local format = opts.format_item or tostring
  local prompt_rows = select(2, opts.prompt:gsub('\n', '')) + 1
  local room = math.max(vim.o.lines - reserved - prompt_rows, 3)
  local function again(change)
    vim.cmd.redraw() -- clears the list before
    show(vim.tbl_extend('force', part, { from = 1 }, change), opts, done)
  end
  local steps = {} ---@type xcsh.SelectStep[]
  local rest = #part.items - part.from + 1
  if rest > room then
    steps[#steps + 1] = {
      says = ('More (%d)'):format(rest - room),
      open = function()
        again({ from = part.from + room })
      end,
    }
  end
  steps[#steps + 1] = {
    says = part.query == '' and 'Search the list' or ('Search again ("%s")'):format(part.query),
    open = function()
      vim.ui.input({ prompt = 'Search: ', default = part.query }, function(query)
        if not query then
          return done(nil)
        end
        query = vim.trim(query)
        again({ query = query, items = matching(part.all, format, query) })
      end)
    end,
  }
  local lines = vim.list_slice(part.items, part.from, part.from + math.min(room, rest) - 1)
  vim.list_extend(lines, steps)
  local width = math.max(vim.o.columns - 8, 20)
  vim.ui.select(lines, {
    prompt = opts.prompt,
    kind = opts.kind,
    format_item = function(item)
      local step = vim.tbl_contains(steps, item)
      return (text.fit(step and item.says or format(item), width, '…'))
    end,
  }, function(item)
    if item ~= nil and vim.tbl_contains(steps, item) then
      return item.open()
    end
    done(item)
  end)
end

---Lets the user select one of any number of items.
---@param items any[]
---@param opts { prompt: string, kind?: string, format_item?: fun(item: any): string }
---@param done fun(item: any)
function M.choose(items, opts, done)
  if not M.is_own() or #items + reserved <= vim.o.lines then
    return vim.ui.select(items, opts, done)
  end
  show({ all = items, items = items, query = '', from = 1 }, opts, done)
end

---@param pick xcsh.Pick
function M.pick(pick)
  M.choose(pick.items, {
    prompt = pick.prompt,
    kind = pick.kind,
    format_item = pick.format,
  }, function(item)
    pick.on_choice(item)
  end)
end

return M
