-- The world of one test: a home of its own with sessions in it, a folder to work
-- in, a person who answers questions as told, and what that person was told.

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

---@param name string a folder of the test's home, made when needed
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
  -- Every test starts like a Neovim in which the plugin has not been used.
  for name in pairs(package.loaded) do
    if name == 'xcsh' or vim.startswith(name, 'xcsh.') then
      package.loaded[name] = nil
    end
  end
  vim.g.xcsh_ls_cmd = vim.env.XCSH_TEST_SERVER
  vim.cmd.cd(M.folder('work'))
end

---A model that answers as told. Sessions ask it.
---@param replies Answer[]
---@param options? table<string, any> further initialization options
---@return Service
function M.model(replies, options)
  service = require('service').start(home, replies)
  options = vim.tbl_extend('keep', options or {}, { model = 'local/m' })
  require('xcsh').setup({ init_options = options })
  return service
end

---Ends the server and forgets every buffer. A server that stays is a failure, and so
---is an error in a callback, which Neovim prints but a test would not notice.
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

---The next question is answered with the first line that has this text in it.
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

---The next question is answered with a line that is typed.
---@param text string
function M.type(text)
  table.insert(answers, function()
    return text
  end)
end

---The next question is closed.
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

---Runs a command of the server behind the plugin's back, to look at its state.
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

---Writes a session of one question and one answer as xcsh would, and returns its path.
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
