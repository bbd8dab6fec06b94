-- API keys. A key goes from the user's typing to the server and stays nowhere in the editor: not in
-- a message, a register, a buffer, the command history or the log of the language client.

local client = require('xcsh.client')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---Asks for a key, without showing it. Returns nil if the user canceled.
---@param name string
---@return string?
local function typed(name)
  -- Ctrl-C is an error.
  local ok, key = pcall(vim.fn.inputsecret, ('API key for %s: '):format(name))
  vim.cmd.redraw() -- removes the asterisks, which tell its length
  key = ok and vim.trim(key) or ''
  return key ~= '' and key or nil
end

---Returns an error that does not contain the key, whatever the server wrote.
---@param err xcsh.Error
---@param key string
---@return xcsh.Error
local function without(err, key)
  if vim.inspect(err):find(key, 1, true) then
    return { message = "Couldn't store the key." }
  end
  return err
end

---@class xcsh.KeyQuestion
---@field cwd string
---@field provider string
---@field name string of the provider
---@field key_page string
---@field auth_file string

---Asks for the key of a provider, after the user has confirmed where it is stored.
---@param question xcsh.KeyQuestion
---@param done fun(key: string?)
function M.ask(question, done)
  local name = text.one_line(question.name, 60)
  local choices = { { title = 'Enter the key' } }
  if vim.startswith(question.key_page, 'https://') then
    choices[2] = { title = 'Open ' .. text.one_line(question.key_page, 200), page = true }
  end
  choices[#choices + 1] = { title = 'Cancel', cancel = true }
  vim.cmd.redraw() -- clears the list before
  local prompt = '%s needs an API key. It is stored in %s, where the terminal programs read it: '
  vim.ui.select(choices, {
    prompt = prompt:format(name, text.one_line(question.auth_file, 300)),
    kind = 'xcsh.choice',
    format_item = function(choice)
      return choice.title
    end,
  }, function(choice)
    if choice and choice.page then
      vim.ui.open(question.key_page)
      return M.ask(question, done)
    end
    done(choice and not choice.cancel and typed(name) or nil)
  end)
end

---Stores the key of a provider.
---@param question xcsh.KeyQuestion
---@param done fun(err: xcsh.Error?, result: any) without both if the user canceled
function M.store(question, done)
  M.ask(question, function(key)
    if not key then
      return done()
    end
    local args = { cwd = question.cwd, provider = question.provider, key = key }
    client.execute('xcsh.setKey', args, function(err, result)
      if err then
        return done(without(err, key))
      end
      done(nil, wire.tbl(result))
    end)
  end)
end

---Refuses a key on the command line, which Neovim would keep in its history.
function M.refuse_typed()
  vim.fn.histdel('cmd', -1)
  view.error({
    message = 'A key is not entered on the command line, where it would be kept. Use :XcshLogin.',
  })
end

return M
