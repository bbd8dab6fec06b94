-- A change of some lines, asked for in the text itself: the lines go to the model, and
-- what it wants to change is shown before it is made.

local approvals = require('xcsh.approvals')
local client = require('xcsh.client')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_inline')

---The tools whose calls are reviewed as changes.
local changing = { edit = true, write = true }

---What the model is told beside the person's words.
local instruction = table.concat({
  'Change %s of %s, which are attached, with the edit tool, in as few calls as possible. The',
  'person reviews each edit before it is made; one that is refused is not wanted in another',
  'form either. Leave all other lines as they are, and say afterwards in one sentence what was',
  'changed. This is wanted:',
  '',
  '%s',
}, '\n')

---@class xcsh.Review
---@field window integer
---@field decide fun(accept: boolean)

---How many turns run that were begun here.
local running = 0

---Whether a turn runs whose text says so itself.
function M.busy()
  return running > 0
end

---The review that is on the screen.
---@type xcsh.Review?
local reviewing

---Shows a change and tells what the person says about it. Closing the window is a no.
---@param title string
---@param diff string
---@param decided fun(accept: boolean)
---@return fun() close takes it off the screen without a word
function M.review(title, diff, decided)
  if reviewing then
    reviewing.decide(false)
  end
  require('xcsh.highlights').define()
  local lines = text.whole((diff:gsub('\n$', '')))
  vim.cmd.stopinsert()
  local bufnr, window = view.float(title, lines, 'a accept · d reject')
  vim.bo[bufnr].filetype = 'diff'
  require('xcsh.diff').colour(bufnr)
  local done = false
  local mine
  local function finish(accept)
    if done then
      return
    end
    done = true
    if reviewing == mine then
      reviewing = nil
    end
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
    if accept ~= nil then
      decided(accept)
    end
  end
  mine = { window = window, decide = finish }
  reviewing = mine
  for _, lhs in ipairs({ 'a', '<CR>', 'y' }) do
    vim.keymap.set('n', lhs, function()
      finish(true)
    end, { buffer = bufnr, nowait = true, desc = 'xcsh: accept the change' })
  end
  for _, lhs in ipairs({ 'd', 'n' }) do
    vim.keymap.set('n', lhs, function()
      finish(false)
    end, { buffer = bufnr, nowait = true, desc = 'xcsh: reject the change' })
  end
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(window),
    once = true,
    callback = function()
      vim.schedule(function()
        finish(false)
      end)
    end,
  })
  return function()
    finish(nil)
  end
end

---The lines that are meant, from 1.
---@param options { first?: integer, last?: integer }
---@return integer first, integer last
local function lines_of(options)
  if options.first then
    return options.first, options.last or options.first
  end
  local first, last = vim.fn.line('.'), vim.fn.line('.')
  if vim.fn.mode():find('^[vV\22]') then
    last = vim.fn.line('v')
    vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  end
  return math.min(first, last), math.max(first, last)
end

---Says at the lines that something goes on with them.
---@param bufnr integer
---@param first integer
---@param wish string
---@return fun() clear
local function mark(bufnr, first, wish)
  local id = vim.api.nvim_buf_set_extmark(bufnr, namespace, first - 1, 0, {
    virt_text = { { ' … xcsh: ' .. text.one_line(wish, 60), 'XcshNote' } },
    virt_text_pos = 'eol',
  })
  return function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      vim.api.nvim_buf_del_extmark(bufnr, namespace, id)
    end
  end
end

---@param lines string[]
local function joined(lines)
  return table.concat(lines, '\n') .. '\n'
end

---A mode that allows edits lets them be made unasked: then they are reviewed afterwards.
---@param bufnr integer
---@param name string
---@param before string[]
---@param answer string
local function afterwards(bufnr, name, before, answer)
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  local after = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  if vim.deep_equal(before, after) then
    local said = text.one_line(answer, 300)
    return view.notify(said ~= '' and said or 'xcsh made no change.')
  end
  local compare = vim.text and vim.text.diff or vim.diff
  local diff = compare(joined(before), joined(after), { ctxlen = 3 })
  M.review(name .. ' was changed', diff --[[@as string]], function(accept)
    if accept then
      return
    end
    if not vim.deep_equal(after, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) then
      local changed = '%s was changed meanwhile; undo the change in its window.'
      return view.notify(changed:format(name), vim.log.levels.WARN)
    end
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, before)
  end)
end

---@class xcsh.Inline
---@field bufnr integer
---@field cwd string
---@field path string
---@field name string relative to the folder
---@field first integer
---@field last integer

---Runs one turn. Changes of the file come to the review, everything else where it always
---does.
---@param what xcsh.Inline
---@param wish string
local function ask(what, wish)
  local before = vim.api.nvim_buf_get_lines(what.bufnr, 0, -1, false)
  local reviewed = 0
  local stop = approvals.review(function(params, settle)
    local path = wire.texts(params.paths)[1]
    local diff = wire.str(params.diff)
    if params.cwd ~= what.cwd or not changing[params.tool] or path ~= what.path or diff == '' then
      return false
    end
    reviewed = reviewed + 1
    M.review(what.name, diff, function(accept)
      settle(accept and 'once' or 'deny')
    end)
    return true
  end)
  local clear = mark(what.bufnr, what.first, wish)
  running = running + 1
  local lines = what.first == what.last and 'line ' .. what.first
    or ('lines %d to %d'):format(what.first, what.last)
  local ends = #(before[what.last] or '')
  client.execute('xcsh.prompt', {
    cwd = what.cwd,
    text = instruction:format(lines, what.name, wish),
    attachments = {
      {
        uri = vim.uri_from_fname(what.path),
        range = {
          start = { line = what.first - 1, character = 0 },
          ['end'] = { line = what.last - 1, character = math.max(ends, 1) },
        },
      },
    },
  }, function(err, result)
    running = running - 1
    stop()
    clear()
    if err then
      view.error(err)
    elseif reviewed == 0 then
      afterwards(what.bufnr, what.name, before, wire.text_of(result.message))
    end
  end)
end

---@param bufnr integer
---@return { cwd: string, path: string, name: string }?
local function place(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype ~= '' or path == '' then
    view.error({ message = 'Open a file to ask for a change of it.' })
    return nil
  end
  local cwd = require('xcsh.config').root()
  local root = cwd:gsub('/*$', '/')
  if not vim.startswith(path, root) then
    view.error({ message = ('%s is not in the directory %s.'):format(path, cwd) })
    return nil
  end
  return { cwd = cwd, path = path, name = path:sub(#root + 1) }
end

---@param options { instruction?: string, first?: integer, last?: integer }
function M.start(options)
  local bufnr = vim.api.nvim_get_current_buf()
  local where = place(bufnr)
  if not where then
    return
  end
  local first, last = lines_of(options)
  local what = vim.tbl_extend('force', where, { bufnr = bufnr, first = first, last = last })
  if options.instruction then
    return ask(what, options.instruction)
  end
  local prompt = first == last and ('Change line %d: '):format(first)
    or ('Change lines %d to %d: '):format(first, last)
  vim.ui.input({ prompt = prompt }, function(wish)
    wish = vim.trim(wish or '')
    if wish == '' then
      return view.notify('Nothing entered')
    end
    ask(what, wish)
  end)
end

return M
