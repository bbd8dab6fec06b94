-- The dialogs for questions of the model, of servers and of extensions. Lists and lines use vim.ui,
-- which users can replace; a longer text gets a buffer, in which :write answers and closing
-- cancels.

local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---A question has no more lines than this.
local max_lines = 20

---@class xcsh.DialogAnswer
---@field value? string
---@field values? string[]
---@field confirmed? boolean
---@field cancelled? boolean

---@class xcsh.Dialog
---@field focus fun(): boolean moves the cursor into it; false if it is closed or has no window
---@field expire fun() the question is no longer pending

---@alias xcsh.DialogDone fun(answer: xcsh.DialogAnswer)

---@param said string
---@return string
local function bounded(said)
  local lines = text.lines(vim.trim(said))
  if #lines > max_lines then
    lines = vim.list_slice(lines, 1, max_lines)
    lines[#lines + 1] = '…'
  end
  return table.concat(lines, '\n')
end

---@param options string[]
---@param prompt string
---@param done fun(option: string?)
---@param descriptions? table<string, string>
local function choose(options, prompt, done, descriptions)
  require('xcsh.pickers.select').choose(options, {
    prompt = prompt .. ': ',
    kind = 'xcsh.question',
    format_item = function(option)
      local more = descriptions and descriptions[option] or ''
      return text.one_line(option) .. (more ~= '' and ' · ' .. more or '')
    end,
  }, done)
end

local other_answer = 'Other answer…'
local all_selected = 'Done'

---@param question xcsh.wire.Question
---@return string
local function heading(question)
  local message = vim.trim(wire.str(question.message))
  local of = wire.num(question.of)
  local place = of > 1 and (' (%d of %d)'):format(wire.num(question.number), of) or ''
  return bounded((message ~= '' and message .. '\n' or '') .. wire.str(question.title) .. place)
end

---Asks for a text that is none of the options.
---@param question xcsh.wire.Question
---@param done fun(text: string?)
local function ask_other(question, done)
  vim.ui.input({ prompt = text.one_line(vim.trim(wire.str(question.title))) .. ': ' }, function(own)
    done(own ~= '' and own or nil)
  end)
end

---@param question xcsh.wire.Question
---@return table<string, string> descriptions of options
local function described(question)
  local of, descriptions = {}, wire.tbl(question.descriptions)
  for i, option in ipairs(wire.texts(question.options)) do
    local parts = {}
    if i - 1 == question.recommended then
      parts[#parts + 1] = 'recommended'
    end
    if wire.str(descriptions[i]) ~= '' then
      parts[#parts + 1] = text.one_line(wire.str(descriptions[i]), 200)
    end
    of[option] = table.concat(parts, ', ')
  end
  return of
end

---@param question xcsh.wire.Question
---@param done xcsh.DialogDone
---@param selected? string[] so far, of a question that takes several
local function ask_select(question, done, selected)
  local options = wire.texts(question.options)
  if question.multi == true then
    selected = selected or {}
    options = vim.tbl_filter(function(option)
      return not vim.tbl_contains(selected, option)
    end, options)
    table.insert(options, 1, all_selected)
  end
  if question.other == true then
    options[#options + 1] = other_answer
  end
  local prompt = heading(question)
  if selected and #selected > 0 then
    prompt = prompt .. '\nSelected: ' .. text.one_line(table.concat(selected, ', '), 200)
  end
  choose(options, prompt, function(option)
    if not option then
      done({ cancelled = true })
    elseif option == other_answer and question.other == true then
      ask_other(question, function(own)
        if own then
          done({ value = own, values = selected })
        else
          done({ cancelled = true })
        end
      end)
    elseif not selected then
      done({ value = option })
    elseif option == all_selected then
      done({ values = selected })
    else
      ask_select(question, done, vim.list_extend({ option }, selected))
    end
  end, described(question))
end

---@param question xcsh.wire.Question
---@param done xcsh.DialogDone
local function ask_confirm(question, done)
  local title, message = wire.str(question.title), wire.str(question.message)
  local prompt = bounded(title .. (message ~= '' and '\n' .. message or ''))
  choose({ 'Yes', 'No' }, prompt, function(option)
    done(option and { confirmed = option == 'Yes' } or { cancelled = true })
  end)
end

---@param question xcsh.wire.Question
---@param done xcsh.DialogDone
local function ask_input(question, done)
  local placeholder = wire.str(question.placeholder)
  local prompt = text.one_line(vim.trim(wire.str(question.title)))
  if placeholder ~= '' then
    prompt = ('%s (%s)'):format(prompt, text.one_line(placeholder, 100))
  end
  vim.ui.input({ prompt = prompt .. ': ' }, function(value)
    done(value and { value = value } or { cancelled = true })
  end)
end

local over_text = 'This question is no longer pending.'

local editors = 0 -- opened so far, for the names of their buffers

---@param question xcsh.wire.Question
---@return integer bufnr
local function editor_buffer(question)
  editors = editors + 1
  local bufnr = vim.api.nvim_create_buf(false, false)
  vim.api.nvim_buf_set_name(bufnr, ('xcsh://question/%d'):format(editors))
  vim.bo[bufnr].buftype = 'acwrite'
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].modeline = false
  local lines = vim.split(wire.str(question.prefill), '\n', { plain = true })
  local levels = vim.bo[bufnr].undolevels
  vim.bo[bufnr].undolevels = -1 -- undo does not remove the extension's text
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].undolevels = levels
  vim.bo[bufnr].modified = false
  vim.bo[bufnr].filetype = 'xcsh-question'
  return bufnr
end

---@param bufnr integer
---@param title string
local function editor_window(bufnr, title)
  local before = vim.api.nvim_get_current_win()
  vim.b[bufnr].xcsh_title = title
  vim.cmd('botright split')
  vim.api.nvim_win_set_buf(0, bufnr)
  local window = vim.api.nvim_get_current_win()
  -- Back to where the user opened it, which Neovim does not ensure.
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(window),
    once = true,
    callback = function()
      local is_here = vim.api.nvim_get_current_win() == window
      vim.schedule(function()
        if is_here and vim.api.nvim_win_is_valid(before) then
          vim.api.nvim_set_current_win(before)
        end
      end)
    end,
  })
  vim.api.nvim_set_option_value('winbar', ' %{get(b:, "xcsh_title", "")}', { scope = 'local' })
end

---@param question xcsh.wire.Question
---@param done xcsh.DialogDone
---@return xcsh.Dialog
local function ask_editor(question, done)
  local bufnr = editor_buffer(question)
  local over = false
  local function finish(answer)
    if not over then
      over = true
      done(answer)
    end
  end
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = bufnr,
    callback = function()
      if over then
        return require('xcsh.view').notify(over_text, vim.log.levels.WARN)
      end
      vim.bo[bufnr].modified = false
      local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
      finish({ value = table.concat(lines, '\n') })
      -- Not yet: the command can be :wq, which closes the window itself.
      vim.schedule(function()
        pcall(vim.api.nvim_buf_delete, bufnr, { force = true })
      end)
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = bufnr,
    callback = function()
      finish({ cancelled = true })
    end,
  })
  local title = text.one_line(vim.trim(wire.str(question.title)))
  editor_window(bufnr, title .. ' · :w to answer, :q to cancel')
  return {
    focus = function()
      local window = vim.fn.bufwinid(bufnr)
      if window == -1 then
        return false
      end
      vim.api.nvim_set_current_win(window)
      return true
    end,
    expire = function()
      over = true
      if not vim.api.nvim_buf_is_valid(bufnr) then
        return
      end
      -- The user may want to keep the text, or types it at this moment.
      if vim.bo[bufnr].modified or bufnr == vim.api.nvim_get_current_buf() then
        vim.b[bufnr].xcsh_title = title .. ' · no longer pending'
        return vim.cmd.redrawstatus({ bang = true })
      end
      vim.api.nvim_buf_delete(bufnr, { force = true })
    end,
  }
end

---@type table<string, fun(question: xcsh.wire.Question, done: xcsh.DialogDone): xcsh.Dialog?>
local methods =
  { select = ask_select, confirm = ask_confirm, input = ask_input, editor = ask_editor }

---Reports whether a question can be shown.
---@param question table
function M.supports(question)
  return methods[wire.str(question.method)] ~= nil
end

---A dialog of vim.ui, which cannot be closed or found again.
---@type xcsh.Dialog
local foreign = {
  focus = function()
    return false
  end,
  expire = function() end,
}

---Shows a question. done is called once.
---@param question xcsh.wire.Question
---@param done xcsh.DialogDone
---@return xcsh.Dialog
function M.open(question, done)
  return methods[question.method](question, done) or foreign
end

return M
