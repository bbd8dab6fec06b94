-- The environment of one test: a temporary home with sessions, a working directory, a user with
-- scripted answers, and the messages shown to that user.

local runner = require('runner')

local M = {}

---@type { message: string, level: integer }[]
M.notified = {}
---@type { prompt: string, lines: string[] }[]
M.asked = {}

local count = 0
local home ---@type string
local service ---@type Service?
local answers = {} ---@type (fun(lines: string[]): any)[]

local function dir(path)
  vim.fn.mkdir(path, 'p')
  return assert(vim.uv.fs_realpath(path))
end

---@param name string a folder of the test's home, created if missing
function M.folder(name)
  return dir(home .. '/' .. name)
end

function M.before()
  count = count + 1
  home = dir(('%s/test-%d'):format(vim.uv.os_tmpdir(), count))
  vim.env.HOME = home
  vim.v.errmsg = ''
  M.notified, M.asked, answers = {}, {}, {}
  vim.ui.input = function(opts, done)
    table.insert(M.asked, { prompt = opts.prompt, lines = {} })
    done(assert(table.remove(answers, 1), 'unexpected question: ' .. opts.prompt)({}))
  end
  vim.notify = function(message, level)
    table.insert(M.notified, { message = message, level = level })
  end
  vim.ui.select = function(items, opts, done)
    local lines = vim.tbl_map(opts.format_item or tostring, items)
    table.insert(M.asked, { prompt = opts.prompt, lines = lines })
    local answer = assert(table.remove(answers, 1), 'unexpected question: ' .. opts.prompt)
    local index = answer(lines)
    done(items[index], index)
  end
  -- Every test starts as if the plugin had not been used yet.
  for name in pairs(package.loaded) do
    if name == 'xcsh' or vim.startswith(name, 'xcsh.') then
      package.loaded[name] = nil
    end
  end
  vim.g.xcsh_ls_cmd = vim.env.XCSH_TEST_SERVER
  vim.cmd.cd(M.folder('work'))
end

---Provides a model with scripted answers to the sessions.
---@param replies Answer[]
---@param options? table<string, any> further initialization options
---@return Service
function M.model(replies, options)
  service = require('service').start(home, replies)
  options = vim.tbl_extend('keep', options or {}, { model = 'local/m' })
  require('xcsh').setup({ init_options = options })
  return service
end

---Stops the server and deletes every buffer. A server that keeps running fails the test, and so
---does an error in a callback, which Neovim prints but a test would not notice.
function M.after()
  require('xcsh').stop()
  runner.wait('the server to end', function()
    return #vim.lsp.get_clients() == 0
  end)
  if service then
    service:close()
    service = nil
  end
  vim.cmd('silent! tabonly | silent! only | %bwipeout!')
  vim.cmd('silent! autocmd! User')
  runner.eq('', vim.v.errmsg)
end

---Answers the next question with the first item that contains this text.
---@param text string
function M.answer(text)
  table.insert(answers, function(lines)
    for i, line in ipairs(lines) do
      if line:find(text, 1, true) then
        return i
      end
    end
    error(('no answer has %q: %s'):format(text, vim.inspect(lines)))
  end)
end

---Answers the next question with typed text.
---@param text string
function M.type(text)
  table.insert(answers, function()
    return text
  end)
end

---Answers the next question with the item whose index a function returns.
---@param choose fun(lines: string[]): integer?
function M.choose(choose)
  table.insert(answers, choose)
end

---Closes the next question.
function M.close_question()
  table.insert(answers, function()
    return nil
  end)
end

---Waits for a message and returns it.
---@param pattern string
function M.message(pattern)
  return runner.wait('a message like ' .. pattern, function()
    for _, note in ipairs(M.notified) do
      if note.message:find(pattern) then
        return note
      end
    end
  end)
end

---Returns the visible floating windows.
---@return integer[]
function M.floats()
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_config(window).relative ~= ''
  end, vim.api.nvim_list_wins())
end

---Waits for a pending item, opens it with the user's command and returns the text of the window.
---Fails if a window opened earlier.
---@param command 'XcshReview'|'XcshApprovals'
---@param pattern? string of the message that announces it
function M.open_waiting(command, pattern)
  M.message(('Pending %%(:%s%%): %s'):format(command, pattern or ''))
  runner.eq({}, M.floats())
  M.notified = {}
  vim.cmd(command)
  runner.eq({ vim.api.nvim_get_current_win() }, M.floats())
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

---Returns what the review of a change shows in a buffer, from top to bottom: "-" and a removed
---line, "+" and an added one.
---@param bufnr integer
---@return string
function M.shown_change(bufnr)
  local namespace = vim.api.nvim_get_namespaces().xcsh_review
  local lines = {}
  for row, line in ipairs(namespace and vim.api.nvim_buf_get_lines(bufnr, 0, -1, false) or {}) do
    local position, added = { row - 1, 0 }, {}
    local options = { details = true }
    for _, mark in
      ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, position, position, options))
    do
      if mark[4].line_hl_group == 'XcshDiffDelete' then
        lines[#lines + 1] = '-' .. line
      end
      for _, virtual in ipairs(mark[4].virt_lines or {}) do
        added[#added + 1] = '+' .. virtual[1][1]
      end
    end
    vim.list_extend(lines, added)
  end
  return table.concat(lines, '\n')
end

---Waits for a proposed change of a buffer, and goes to it with :XcshReview. Fails if the cursor
---moved or a window opened earlier.
---@param bufnr integer
---@return string change
function M.review(bufnr)
  local window, row = vim.api.nvim_get_current_win(), vim.api.nvim_win_get_cursor(0)
  runner.wait('the marks of the change', function()
    return M.shown_change(bufnr) ~= ''
  end)
  runner.eq({ window, row }, { vim.api.nvim_get_current_win(), vim.api.nvim_win_get_cursor(0) })
  vim.cmd('XcshReview')
  runner.eq(bufnr, vim.api.nvim_get_current_buf())
  runner.eq({}, M.floats())
  return M.shown_change(bufnr)
end

---Opens the pending tool call and presses a key there.
---@param key string
---@return string question
function M.permit(key)
  local question = M.open_waiting('XcshApprovals')
  vim.api.nvim_feedkeys(key, 'xt', false)
  runner.eq({}, M.floats())
  return question
end

---Runs a command of the server without the plugin's UI, to inspect its state.
---@param name string
---@param args? table
function M.execute(name, args)
  local answer
  require('xcsh').execute(name, args or {}, function(err, result)
    answer = { err = err, result = result }
  end)
  runner.wait('an answer of ' .. name, function()
    return answer
  end)
  runner.eq(nil, answer.err)
  return answer.result
end

---Writes a session with one question and one answer like xcsh would, and returns its path.
---@param folder string
---@param id string
---@param question string
---@param reply string
function M.session(folder, id, question, reply)
  local second = vim.fn.str2nr(id:sub(-2), 16) % 60
  local stamp = ('2026-02-16T10:20:%02d.000Z'):format(second)
  local lines = {
    [[{"type":"session","version":3,"id":$id,"timestamp":$stamp,"cwd":$folder}]],
    [[{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":$stamp,]]
      .. [["message":{"role":"user","content":[{"type":"text","text":$question}],"timestamp":1}}]],
    [[{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":$stamp,"message":]]
      .. [[{"role":"assistant","content":[{"type":"text","text":$reply}],]]
      .. [["api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5",]]
      .. [["usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,]]
      .. [["cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},]]
      .. [["stopReason":"stop","timestamp":2}}]],
  }
  local values = { id = id, stamp = stamp, folder = folder, question = question, reply = reply }
  for i, line in ipairs(lines) do
    lines[i] = line:gsub('%$(%l+)', function(name)
      return vim.json.encode(values[name])
    end)
  end
  local encoded = '--' .. folder:sub(2):gsub('[/\\:]', '-') .. '--'
  local sessions = M.folder('.xcsh/agent/sessions/' .. encoded)
  local path = ('%s/%s_%s.jsonl'):format(sessions, stamp:gsub('[:.]', '-'), id)
  vim.fn.writefile(lines, path)
  return path
end

return M
