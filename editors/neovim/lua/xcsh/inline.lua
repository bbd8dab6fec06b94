-- Inline changes: the lines go to the model, and the user reviews the changes that it requests or
-- has made. A mark and a message announce a change; :XcshReview opens it.

local applied = require('xcsh.applied')
local approvals = require('xcsh.approvals')
local client = require('xcsh.client')
local decide = require('xcsh.decide')
local text = require('xcsh.text')
local view = require('xcsh.view')
local waiting = require('xcsh.waiting')
local wire = require('xcsh.wire')

local M = {}

local namespace = vim.api.nvim_create_namespace('xcsh_inline')

---The tools whose calls are reviewed as changes.
local changing = { edit = true, write = true }

---The instruction to the model, which accompanies the user's request.
local instruction = table.concat({
  'The request is about %s of %s, which are attached. Change them with the edit tool, in as few',
  'calls as possible. The user reviews each edit before it is made. Do not propose a rejected edit',
  'again in another form. Leave all other lines unchanged, and afterwards describe the change in',
  'one sentence.',
}, '\n')

---The number of running turns that were started here.
local running = 0

---Reports whether a turn started here is running, which shows its own progress.
function M.busy()
  return running > 0
end

---Returns the requested lines, from 1.
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

---@class xcsh.Mark a sign and a note at a line
---@field clear fun()
---@field where fun(): integer?, integer?

---Puts a note at a line. It moves with the line and does not map any key.
---@param bufnr integer
---@param row integer from 1; the last line if there is no such line
---@param note string
---@param group string
---@param sign? string
---@return xcsh.Mark
local function mark(bufnr, row, note, group, sign)
  require('xcsh.highlights').define()
  row = math.min(math.max(row, 1), vim.api.nvim_buf_line_count(bufnr))
  local id = vim.api.nvim_buf_set_extmark(bufnr, namespace, row - 1, 0, {
    virt_text = { { ' ' .. note, group } },
    virt_text_pos = 'eol',
    sign_text = sign,
    sign_hl_group = sign and group or nil,
  })
  return {
    clear = function()
      if vim.api.nvim_buf_is_valid(bufnr) then
        vim.api.nvim_buf_del_extmark(bufnr, namespace, id)
      end
    end,
    where = function()
      if vim.api.nvim_buf_is_valid(bufnr) then
        local at = vim.api.nvim_buf_get_extmark_by_id(bufnr, namespace, id, {})
        return bufnr, at[1] and at[1] + 1
      end
    end,
  }
end

---@class xcsh.Inline
---@field bufnr integer
---@field cwd string
---@field path string
---@field name string relative to the folder
---@field first integer
---@field last integer

---@param accept fun()
---@param reject fun()
---@return xcsh.DecisionKey[]
local function keys(accept, reject)
  return {
    { lhs = { 'a' }, does = 'accept', run = accept },
    { lhs = { 'd' }, does = 'reject', run = reject },
  }
end

---Announces a change that the model requests. It is made when the user accepts it.
---@param what xcsh.Inline
---@param entry xcsh.WaitingApproval
---@param tracker xcsh.Tracker
local function propose(what, entry, tracker)
  local diff = wire.str(entry.params.diff)
  local window ---@type xcsh.DecisionWindow?
  local function open()
    if window and window:focus() then
      return
    end
    local lines = approvals.question(entry.params)
    lines[#lines + 1] = ''
    vim.list_extend(lines, text.whole((diff:gsub('\n$', ''))))
    window = decide.open({
      title = what.name,
      lines = lines,
      keys = keys(function()
        entry.settle('once')
      end, function()
        entry.settle('deny')
      end),
    })
  end
  local review, where = approvals.reviewer(entry, open)
  -- The marks of a review show where the change is.
  local note ---@type xcsh.Mark?
  if not where or not where() then
    local row = tonumber(diff:match('\n@@ %-(%d+)') or diff:match('^@@ %-(%d+)')) or what.first
    note =
      mark(what.bufnr, row, '… change proposed by xcsh · :XcshReview', 'XcshApproval', '▸')
  end
  local forget = waiting.add({
    kind = 'change',
    cwd = what.cwd,
    says = approvals.summary(entry.params),
    where = note and note.where or where,
    answers = true,
    open = open,
    review = review,
  })
  table.insert(entry.gone, function(decision)
    if note then
      note.clear()
    end
    forget()
    if window then
      window:expire()
    end
    if decision ~= 'deny' then
      tracker.expected = tracker.expected + 1
    end
  end)
end

---@param lines string[]
---@param touched xcsh.Located[]
local function add_touched(lines, touched)
  for _, at in ipairs(touched) do
    local line = 'You have edited line %d since, so it is kept. It was before the change:'
    vim.list_extend(lines, { '', line:format(at.first + 1) })
    for _, old in ipairs(at.hunk.old) do
      vim.list_extend(lines, text.whole('-' .. old:gsub('\n', '\0')))
    end
  end
end

---Undoes a change, and shows the parts that could not be undone.
---@param what xcsh.Inline
---@param tracker xcsh.Tracker
local function undo(what, tracker)
  if not vim.api.nvim_buf_is_loaded(what.bufnr) then
    return
  end
  local undone, touched = tracker:reject()
  if #touched > 0 then
    local said = '%d of %d changes undone in %s. The others were edited since and are kept.'
    view.notify(said:format(undone, undone + #touched, what.name), vim.log.levels.WARN)
  end
end

---Announces changes that the approval mode allowed without asking. Only these are shown, and undone
---if the user rejects them.
---@param what xcsh.Inline
---@param tracker xcsh.Tracker
local function afterwards(what, tracker)
  local found = tracker:located()
  local at = found.whole[1] or found.touched[1]
  if not at then
    return tracker:forget()
  end
  local note =
    mark(what.bufnr, at.first + 1, '… changed by xcsh · :XcshReview', 'XcshApproval', '▸')
  local window ---@type xcsh.DecisionWindow?
  local forget
  local function done()
    note.clear()
    forget()
    tracker:forget()
  end
  forget = waiting.add({
    kind = 'change',
    cwd = what.cwd,
    says = what.name .. ' was changed by xcsh.',
    where = note.where,
    open = function()
      if window and window:focus() then
        return
      end
      local now = vim.api.nvim_buf_is_loaded(what.bufnr) and tracker:located()
      if not now or #now.whole + #now.touched == 0 then
        done()
        return view.notify('The change has already been undone.')
      end
      local lines = #now.whole > 0 and text.whole((tracker:diff():gsub('\n$', ''))) or {}
      add_touched(lines, now.touched)
      window = decide.open({
        title = what.name .. ' was changed',
        lines = lines,
        keys = keys(done, function()
          undo(what, tracker)
          done()
        end),
      })
    end,
  })
end

---@param what xcsh.Inline
---@param wish string
---@return table
local function arguments(what, wish)
  local lines = what.first == what.last and 'line ' .. what.first
    or ('lines %d to %d'):format(what.first, what.last)
  local last = vim.api.nvim_buf_get_lines(what.bufnr, what.last - 1, what.last, false)[1] or ''
  return {
    cwd = what.cwd,
    text = wish,
    literal = true,
    instruction = instruction:format(lines, what.name),
    attachments = {
      {
        uri = vim.uri_from_fname(what.path),
        range = {
          start = { line = what.first - 1, character = 0 },
          ['end'] = { line = what.last - 1, character = math.max(#last, 1) },
        },
      },
    },
  }
end

---Runs one turn. Changes to the file go to the review, all other approvals to their usual place.
---@param what xcsh.Inline
---@param wish string
local ask ---@type fun(what: xcsh.Inline, wish: string)
function ask(what, wish)
  local tracker = applied.track(what.bufnr)
  local proposed = 0
  local stop = approvals.review(function(entry)
    local params = entry.params
    local path = wire.texts(params.paths)[1]
    local diff = wire.str(params.diff)
    if params.cwd ~= what.cwd or not changing[params.tool] or path ~= what.path or diff == '' then
      return false
    end
    proposed = proposed + 1
    propose(what, entry, tracker)
    return true
  end)
  local note = mark(what.bufnr, what.first, '… xcsh: ' .. text.one_line(wish, 60), 'XcshNote')
  running = running + 1
  local intent = require('xcsh.intent').begin(true)
  intent:finish()
  client.execute('xcsh.prompt', arguments(what, wish), function(err, result)
    running = running - 1
    stop()
    note.clear()
    tracker:stop()
    local made = #tracker.hunks > 0 and vim.api.nvim_buf_is_loaded(what.bufnr)
    if err and require('xcsh.ways').lacks(err) then
      require('xcsh.ways').offer({
        cwd = what.cwd,
        message = err.message,
        done = function(ready)
          if ready then
            return ask(what, wish)
          end
          view.prompt(wish, what.cwd)
        end,
      }, intent)
    elseif err then
      view.error(err)
    elseif proposed == 0 and not made then
      local said = text.one_line(wire.text_of(result.message), 300)
      view.notify(said ~= '' and said or 'xcsh made no changes.')
    end
    if made then
      afterwards(what, tracker)
    end
  end)
end

---@param bufnr integer
---@return { cwd: string, path: string, name: string }?
local function place(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype ~= '' or path == '' then
    view.error({ message = 'Open a file to change it with xcsh.' })
    return nil
  end
  local cwd = require('xcsh.config').root()
  local root = cwd:gsub('/*$', '/')
  if not vim.startswith(path, root) then
    view.error({ message = ('%s is not in %s.'):format(path, cwd) })
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
      return view.notify('Nothing entered.')
    end
    ask(what, wish)
  end)
end

return M
